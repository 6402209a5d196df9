import sys, time
from proto1 import *
names=sys.argv[1].split(',') if sys.argv[1]!='all' else list(T1)
R=int(sys.argv[2]); found={}
AG={'rule':{}, **{f'a{a} c{c}':dict(alpha=a,coef=.025*c) for a in (.1,.25,.5) for c in (.25,1,4)}, 'p1':dict(power=1), 'h1':dict(h1=1),'h4':dict(h1=4),'h4a1':dict(h1=4,alpha=.1),'nogls':dict(gls=False,alpha=.1)}
PT={'rule':{}, **{f's{s} r{r}':dict(share=s,root=r) for s in (.1,.25,.5) for r in (None,2)}, 'th2':dict(theta=2),'l4':dict(least=.25),'r2l4':dict(root=2,least=.25,share=.25)}
for name in names:
    T=Task(name)
    for delta in (0,1e-6):
        for eps in (.1,1,10):
            if delta and eps==10: continue
            t0=time.time(); f={}
            def rec(k,v): f.setdefault(k,[]).append(err(T.t,v))
            for rep in range(R):
                no=Noise(eps,delta,rep*7+1)
                for h in T.cells:
                    rec(('uniform',h),uniform(T,no,h)); 
                    rec(('uniform look',h),uniform(T,no,h,look=0 if delta else .02))
                for h in T.cells:
                    for r in (2,4):
                        if h*r<=2:
                            a,b,g=two(T,no,h,r); 
                            for w in (0.,.25,.5,.75,1.): rec(('two',h,r,w),w*a+(1-w)*b)
                            rec(('gls',h,r),g)
                            a,b=post(T,no,h,r)
                            for w in (-.5,.25,.5,.75,1.25,1.5): rec(('post',h,r,w),w*a+(1-w)*b)
                for k,a in AG.items():
                    v,n=ag(T,no,**a); rec(('ag',k),v); f.setdefault(('n ag',k),[]).append(n)
                for k,a in PT.items():
                    v,n=privtree(T,no,**a); rec(('pt',k),v); f.setdefault(('n pt',k),[]).append(n)
            f={k:np.array(v) for k,v in f.items()}; found[name,delta,eps]=f
            def best(kind): 
                k=min((k for k in f if k[0]==kind),key=lambda k:f[k].mean()); return f"{kind} {f[k].mean():.2f}±{f[k].std()/R**.5:.2f} {k[1:]}"
            print(name,delta,eps,'|',best('uniform'),'|',best('two'),'|',best('gls'),'|',best('post'),'|',f"ag rule {f['ag','rule'].mean():.2f}",best('ag'),'|',f"pt rule {f['pt','rule'].mean():.2f}",best('pt'),f"{time.time()-t0:.0f}s",flush=True)
    pickle.dump(found,open(f'run1_{names[0]}.pkl','wb'))
