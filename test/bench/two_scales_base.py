"""what race_privatize does today; saves errors by release and cells chosen"""
import sys, subprocess, re, os, math, pickle
import numpy as np
from collections import Counter
from tables import *
D=np.concatenate([np.linspace(0,20,20001),np.geomspace(20.01,1e4,20000)])
def ek(c): return 1 if c==0 else math.erf(1/c/math.sqrt(2))+math.sqrt(2/math.pi)*c*math.expm1(-1/(2*c*c))
K=np.array([ek(c) for c in D])
def sums(x,q): return np.array([np.interp(np.sqrt(((x-a)**2).sum(1)),D,K).sum() for a in q])
def run(sql):
    r=subprocess.run(['/tmp/dev/dev','psql','-qAtX','-v','ON_ERROR_STOP=1'],input=sql,capture_output=True,text=True,cwd='/tmp/wt/cells')
    if r.returncode: print(r.stderr[:2000]); raise SystemExit(1)
    return r.stdout.strip().split('\n')
def arr(v): return "'{"+','.join(repr(float(a)) for a in np.atleast_1d(v))+"}'"
def load(name):
    x,q,bw=table(name)
    f=f'/tmp/cells/x_{name}.txt'
    with open(f,'w') as h:
        for a in x: h.write('{'+','.join('%r'%float(b) for b in a)+'}\n')
    os.chmod(f,0o644); os.chmod('/tmp/cells',0o755)
    run(f"DROP TABLE IF EXISTS x_{name},q_{name}; CREATE TABLE x_{name}(x float8[]); COPY x_{name} FROM '{f}'; CREATE TABLE q_{name}(id serial,x float8[]); INSERT INTO q_{name}(x) VALUES "+','.join('('+arr(a)+')' for a in q))
    os.remove(f)
    return sums(x/bw,q/bw)/len(x),x,bw
def ask(name,bw,eps,reps,dims,cells=None,delta=0):
    c='' if cells is None else f", cells => {arr([cells]*dims)}"
    rows='NULL' if cells is None else '1'
    p=f"race_params('l2', {dims}, {bw}, sequence => 'grid', lower => {arr([0]*dims)}, upper => {arr([1]*dims)}{c})"
    out=run(f"WITH e AS MATERIALIZED (SELECT race_build({p},x) AS s FROM x_{name}), r AS MATERIALIZED (SELECT i, race_privatize(s,{eps},{delta},{rows}) AS s FROM e, generate_series(1,{reps}) i) SELECT i, race_params(s)::text, array_agg(e.kernel_density ORDER BY id) FROM r, q_{name} q, race_estimate(s,q.x) e GROUP BY i, 2")
    res=[];cc=[]
    for l in out:
        _,pp,a=l.split('|')
        m=re.search(r'cells=\{?([^}]*)\}?',pp); lev=re.search(r'range=(\d+)',pp); cs=m.group(1)
        n=1
        for z in cs.split(','): n*=float(z)+1
        cc.append((int(cs.split(',')[0]),1 if lev is None or float(lev.group(1))==n else 2))
        res.append(np.array(a.strip('{}').split(','),float))
    return np.array(res),cc
if __name__=='__main__':
    names=sys.argv[1].split(',') if sys.argv[1] not in '12' else list(T1 if sys.argv[1]=='1' else T2); reps=int(sys.argv[2])
    found=pickle.load(open('base.pkl','rb')) if os.path.exists('base.pkl') else {}
    for name in names:
        t,x,bw=load(name); np.save(f'truth_{name}.npy',t); dims=x.shape[1]
        for delta in (0,1e-6):
            for eps in (.1,1,10):
                if delta and eps==10: continue
                res,cc=ask(name,bw,eps,reps,dims,None,delta)
                e=1e4*np.sqrt(((res-t)**2).mean(1))
                found[name,delta,eps]=(e,cc)
                print(f"{name:10} n={len(x)} d={delta:g} eps={eps:g} rms {1e4*np.sqrt((t*t).mean()):.0f} err {e.mean():.2f} +- {e.std()/len(e)**.5:.2f} {dict(Counter(cc))}",flush=True)
        pickle.dump(found,open(f'base_{sys.argv[3]}.pkl','wb'))
