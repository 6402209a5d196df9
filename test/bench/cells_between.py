"""Accuracy of grids in 2-d: auto and forced cells; uses psql through dev"""
import numpy as np, subprocess, sys, math, os
sys.path.insert(0,'/tmp/wt/cells/test/bench')
import functools
D=np.concatenate([np.linspace(0,20,20001),np.geomspace(20.01,1e4,20000)])
def ek(c):
    return 1 if c==0 else math.erf(1/c/math.sqrt(2))+math.sqrt(2/math.pi)*c*math.expm1(-1/(2*c*c))
K=np.array([ek(c) for c in D])
def sums(x,q):
    return np.array([np.interp(np.sqrt(((x-a)**2).sum(1)),D,K).sum() for a in q])
def psql(sql):
    return subprocess.run(['/tmp/dev/dev','psql','-qAtX','-v','ON_ERROR_STOP=1'],input=sql,capture_output=True,text=True,cwd='/tmp/wt/cells')
def run(sql):
    r=psql(sql)
    if r.returncode: print(r.stderr[:2000]); raise SystemExit(1)
    return r.stdout.strip().split('\n')
rng=np.random.default_rng(77)
def made(name):
    r=np.random.default_rng(abs(hash(name))%1000 if False else sum(map(ord,name)))
    n=20000
    if name=='california':
        x=np.loadtxt('/tmp/wt/cells.tmp/california.csv',delimiter=','); x=(x-[-125,32])/[11,10.5]; return r.permutation(x)
    if name=='smooth2': return r.beta(2,4,(n,2))
    if name=='normal2': return np.clip(.5+.15*r.standard_normal((n,2)),0,1)
    if name=='uniform2': return r.random((n,2))
    if name=='ring2':
        a=r.uniform(0,2*np.pi,n); rad=.3+.02*r.standard_normal(n); return .5+rad[:,None]*np.column_stack([np.cos(a),np.sin(a)])
    if name=='line2':
        a=r.beta(2,2,n); return np.clip(np.column_stack([.1+.8*a,.9-.6*a])+.003*r.standard_normal((n,2)),0,1)
    if name=='spiky2':
        c=r.random((15,2)).round(2); s=1/np.arange(1,16); w=r.random(n)<.5
        x=r.beta(2,3,(n,2)); x[w]=c[r.choice(15,w.sum(),p=s/s.sum())]; return x
    if name=='clusters2':
        c=r.uniform(.1,.9,(12,2)); z=r.uniform(.01,.08,12); s=1/np.arange(1,13); k=r.choice(12,n,p=s/s.sum()); return np.clip(c[k]+z[k,None]*r.standard_normal((n,2)),0,1)
    if name=='skin2':
        x=np.loadtxt('/work/shared/data/skin.csv.gz',delimiter=',',skiprows=1)[:,:2]/255; return r.permutation(x)[:60000]
    if name=='pulsar2':
        x=np.loadtxt('/work/shared/data/pulsar.csv.gz',delimiter=',',skiprows=1)[:,:2]/[200,100]; return r.permutation(x)
    if name=='adult2':
        x=np.loadtxt('/work/shared/data/adult.csv.gz',delimiter=',',skiprows=1)
        return r.permutation(np.column_stack([x[:,0]/max(1,x[:,0].max()),x[:,12]/max(1,x[:,12].max())]))
    raise KeyError(name)
def arr(v): return "'{"+','.join(repr(float(a)) for a in np.atleast_1d(v))+"}'"
def load(name,bw):
    x=made(name); nq=150
    q=np.concatenate([x[:nq],np.random.default_rng(1).random((nq,x.shape[1]))]); x=x[nq:]
    with open('/tmp/wt/cells.tmp/x_%s.txt'%name,'w') as f:
        for a in x: f.write('{'+','.join('%r'%float(b) for b in a)+'}\n')
    os.chmod('/tmp/wt/cells.tmp/x_%s.txt'%name,0o644)
    t='x_'+name
    run(f"DROP TABLE IF EXISTS {t},q_{name}; CREATE TABLE {t}(x float8[]); COPY {t} FROM '/tmp/wt/cells.tmp/x_{name}.txt'; CREATE TABLE q_{name}(id serial,x float8[]); INSERT INTO q_{name}(x) VALUES "+','.join('('+arr(a)+')' for a in q))
    return sums(x/bw,q/bw)/len(x),len(x)
def ask(name,bw,eps,reps,cells=None,delta=0,dims=2):
    c='' if cells is None else f", cells => {arr([cells]*dims)}"
    rows='NULL' if cells is None else '1'
    p=f"race_params('l2', {dims}, {bw}, sequence => 'grid', lower => {arr([0]*dims)}, upper => {arr([1]*dims)}{c})"
    out=run(f"WITH e AS MATERIALIZED (SELECT race_build({p},x) AS s FROM x_{name}), r AS MATERIALIZED (SELECT i, race_privatize(s,{eps},{delta},{rows}) AS s FROM e, generate_series(1,{reps}) i) SELECT i, race_params(s)::text, array_agg(e.kernel_density ORDER BY id), array_agg(e.lower ORDER BY id), array_agg(e.upper ORDER BY id) FROM r, q_{name} q, race_estimate(s,q.x) e GROUP BY i, 2")
    res=[];cc=[]
    import re
    for l in out:
        _,pp,a,b,c=l.split('|'); 
        m=re.search(r'cells=\{?([^}]*)\}?',pp); lev=re.search(r'range=(\d+)',pp)
        cs=m.group(1) if m else pp
        n=1
        for z in cs.split(','): n*=float(z)+1
        cc.append(cs.split(',')[0]+('' if lev is None or float(lev.group(1))==n else '*'))
        res.append([np.array(v.strip('{}').split(','),float) for v in (a,b,c)])
    return np.array(res),cc
def stats(res,t):
    err=1e4*np.sqrt(((res[:,0]-t)**2).mean(1)); cov=((res[:,1]<=t)&(t<=res[:,2])).mean(1); w=1e4*(res[:,2]-res[:,1]).mean(1)
    return err,cov,w

from collections import Counter
names=sys.argv[1].split(','); bw=float(sys.argv[2]); EPS=[float(e) for e in sys.argv[3].split(',')]; forced=[int(c) for c in sys.argv[4].split(',')] if len(sys.argv)>4 and sys.argv[4] else []
reps=int(sys.argv[5]) if len(sys.argv)>5 else 20
for name in names:
    t,n=load(name,bw)
    for eps in EPS:
        res,cc=ask(name,bw,eps,reps); e,c,w=stats(res,t)
        print(f"{name:10} n={n} eps={eps:g} truth rms {1e4*np.sqrt((t*t).mean()):.0f} auto err {e.mean():.2f} cov {c.mean():.3f} worst {c.min():.3f} width/2e*1.96 {w.mean()/(2*1.96*e.mean()):.2f} cells {dict(Counter(cc))}",flush=True)
        print('     ',end='')
        for k in forced:
            res,cc=ask(name,bw,eps,8,k); e,c,w=stats(res,t)
            print(f" {k}:{e.mean():.2f}/{w.mean()/(2*1.96*e.mean()):.1f}",end='',flush=True)
        print()
