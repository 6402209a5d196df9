# Made tables, and public ones of one and two columns (measured once)
import sys, numpy as np, gzip, csv
sys.path.insert(0,'/tmp/wt/cells/test/bench')
from fit_mixtures import MIXTURES
D='/tmp/classes/data/'
def col(f,*names):
    with gzip.open(f,'rt') as h:
        r=csv.reader(h); head=next(r); ix=[head.index(n) for n in names]
        out=[]
        for row in r:
            try: out.append([float(row[i]) for i in ix])
            except ValueError: pass
    return np.array(out)
def plain(f,names,conv=float):
    with open(f) as h:
        r=csv.DictReader(h); return np.array([[float(row[n]) for n in names] for row in r])
def mixture(dims, n=20_000):
    random = np.random.default_rng(dims)
    centers, scales = random.uniform(0.2, 0.8, (5, dims)), random.uniform(0.02, 0.12, (5, dims))
    of = random.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    return centers[of] + scales[of] * random.normal(size=(n, dims))
def skewed(dims, n):
    random = np.random.default_rng(10 + dims)
    together = random.normal(size=(n, 1))
    return np.exp(0.8 * (0.6 * together + 0.8 * random.normal(size=(n, dims))))/10
def steps():
    r=np.random.default_rng(5); e=np.sort(r.random(11)); e[0]=0;e[-1]=1; w=r.dirichlet(np.ones(10)*.7); k=r.choice(10,20000,p=w)
    return (e[k]+(e[k+1]-e[k])*r.random(20000))[:,None]
def seaice():
    with open('/tmp/bench/front/seaice.csv') as h:
        r=csv.DictReader(h); return np.array([[(np.datetime64(a['Date'])-np.datetime64('1978-01-01')).astype(int)/15340.,float(a['Extent'])/20] for a in r])
def made2(name):
    r=np.random.default_rng(sum(map(ord,name))); n=20000
    if name=='smooth2': return r.beta(2,4,(n,2))
    if name=='normal2': return .5+.15*r.standard_normal((n,2))
    if name=='ring2':
        a=r.uniform(0,2*np.pi,n); rad=.3+.02*r.standard_normal(n); return .5+rad[:,None]*np.column_stack([np.cos(a),np.sin(a)])
    if name=='line2':
        a=r.beta(2,2,n); return np.column_stack([.1+.8*a,.9-.6*a])+.003*r.standard_normal((n,2))
    if name=='spiky2':
        c=r.random((15,2)).round(2); s=1/np.arange(1,16); w=r.random(n)<.5
        x=r.beta(2,3,(n,2)); x[w]=c[r.choice(15,w.sum(),p=s/s.sum())]; return x
    if name=='clusters2':
        c=r.uniform(.1,.9,(12,2)); z=r.uniform(.01,.08,12); s=1/np.arange(1,13); k=r.choice(12,n,p=s/s.sum()); return c[k]+z[k,None]*r.standard_normal((n,2))
def m(name): 
    x=next(t for t in MIXTURES if t.name==name); return x.generate()[0]
T1={'spiky':(lambda:m('spiky'),.02),'smooth':(lambda:m('smooth'),.02),'heavy':(lambda:m('heavy'),.02),'steps':(steps,.02),'mix1':(lambda:mixture(1),.02),'skew1':(lambda:skewed(1,5000),.02),
 'salaries':(lambda:col('/work/shared/data/salaries.csv.gz','annual_salary')/260000,5/260),
 'fare':(lambda:plain('/tmp/bench/front/taxis.csv',['fare'])/150,.02),
 'extent':(lambda:seaice()[:,1:],.02),
 'value':(lambda:col(D+'california.csv.gz','x8')/520000,.02),
 'price':(lambda:col(D+'diamonds.csv.gz','price')/20000,.02),
 'age':(lambda:col('/work/shared/data/adult.csv.gz','age')/100,.02),
 'limit':(lambda:col(D+'credit.csv.gz','LIMIT_BAL')/1000000,.02)}
T2={**{n:((lambda n=n:made2(n)),.04) for n in ('smooth2','normal2','ring2','line2','spiky2','clusters2')},
 'california':(lambda:(col(D+'california.csv.gz','x0','x1')-[-125,32])/[11,10.5],.04),
 'taxis2':(lambda:plain('/tmp/bench/front/taxis.csv',['distance','fare'])/[40,150],.04),
 'seaice2':(seaice,.04),
 'kc':(lambda:(col(D+'kc.raw.csv.gz','lat','long')-[47.1,-122.6])/[.8,1.4],.04),
 'pulsar2':(lambda:np.loadtxt('/work/shared/data/pulsar.csv.gz',delimiter=',',skiprows=1)[:,:2]/[200,100],.04),
 'elevation2':(lambda:col(D+'covtype.csv.gz','Elevation','Slope')/[4000,70],.04)}
NQ=150
def table(name):
    """records, queries, bandwidth"""
    f,bw=(T1|T2)[name]; x=np.clip(f(),0,1); r=np.random.default_rng(3); x=x[r.permutation(len(x))]
    return x[NQ:], np.concatenate([x[:NQ],r.random((NQ,x.shape[1]))]), bw
if __name__=='__main__':
    for n in list(T1)+list(T2):
        x,q,b=table(n); print(n,x.shape,x.min(0),x.max(0),b)
