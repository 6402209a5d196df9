import sys, os, math, pickle, ctypes, itertools
import numpy as np
from scipy.linalg import solveh_banded, cho_factor, cho_solve
from tables import *
# kernel and its second antiderivative
GR=np.arange(0,110,2e-4)
from scipy.special import erf
with np.errstate(all='ignore'):
    KV=np.where(GR==0,1,erf(1/GR/np.sqrt(2))+np.sqrt(2/np.pi)*GR*np.expm1(-1/(2*GR*GR)))
def cum(v): return np.concatenate([[0],np.cumsum((v[1:]+v[:-1])/2)*2e-4])
K1=cum(KV); K2=cum(K1)
def kk(d): return np.interp(np.abs(d),GR,K2)
def kern(d): return np.interp(np.abs(d),GR,KV)
NORM2=2*np.sum(KV**2)*2e-4
def hats(t,q):
    """[Q,n]: integral of hat i times kernel around q; t extended mesh (first and last hats have a neighbour of same width outside)"""
    e=np.concatenate([[2*t[0]-t[1]],t,[2*t[-1]-t[-2]]]); h=np.diff(e)
    v=kk(q[:,None]-e[None,:]); d=np.diff(v,axis=1)/h
    return d[:,1:]-d[:,:-1]
def extend(t,n=3):
    a,b=t[1]-t[0],t[-1]-t[-2]
    return np.concatenate([t[0]-a*np.arange(n,0,-1),t,t[-1]+b*np.arange(1,n+1)])
def answer_matrix(t,q):
    """[Q,nodes]: answers are this times nodes of mesh t (bandwidths)"""
    e=extend(t); full=np.concatenate([[2*e[0]-e[1]],e,[2*e[-1]-e[-2]]]); h=np.diff(full)
    B=hats(e,q)
    ab=np.zeros((2,len(e))); ab[1]=(h[:-1]+h[1:])/3; ab[0,1:]=h[1:-1]/6
    A=solveh_banded(ab,B.T)   # [n,Q]
    return A[3:-3].T
def count(t,x,n=None):
    """hat weights of records"""
    k=np.clip(np.searchsorted(t,x,'right')-1,0,len(t)-2); w=(x-t[k])/(t[k+1]-t[k])
    return np.bincount(k,1-w,len(t))+np.bincount(k+1,w,len(t))
lib=ctypes.CDLL('/tmp/cells/pm.so')
class PM(ctypes.Structure): _fields_=[('place',ctypes.c_double),('records',ctypes.c_double)]
lib.race_point_masses_take.restype=ctypes.c_size_t
lib.race_point_masses_take.argtypes=[ctypes.c_void_p,ctypes.c_size_t,ctypes.c_double,ctypes.c_void_p,ctypes.c_void_p]
def masses(nodes,var):
    n=len(nodes); nodes=np.ascontiguousarray(nodes); out=(PM*(n//3+1))(); sp=np.zeros(n)
    f=lib.race_point_masses_take(nodes.ctypes.data,n,var,ctypes.addressof(out),sp.ctypes.data)
    return nodes,np.array([[out[i].place,out[i].records] for i in range(f)]).reshape(-1,2)
class Task:
    def __init__(s,name):
        x,q,bw=table(name); s.name=name; s.bw=bw; s.x=np.sort(x[:,0]/bw); s.q=q[:,0]/bw; s.N=len(x); s.L=1/bw; s.t=np.load(f'truth_{name}.npy')
        s.cells={1/16:800,1/8:400,1/4:200,1/2:100,1:50,2:25}
        if name=='salaries': s.cells={1/16:832,1/8:416,1/4:208,1/2:104,1:52,2:26}
        s.mesh={h:np.linspace(0,s.L,c+1) for h,c in s.cells.items()}; s.mat={h:answer_matrix(m,s.q) for h,m in s.mesh.items()}
        s.exact={h:count(m,s.x) for h,m in s.mesh.items()}
class Noise:
    """budget: share of it gives noise"""
    def __init__(s,eps,delta,seed): s.eps,s.delta,s.r=eps,delta,np.random.default_rng(seed); s.sd={(.1,1e-6):None}
    def sigma(s,share):
        """sd of a number of sensitivity 1 for a share"""
        if s.delta==0: return math.sqrt(2)/(s.eps*share)
        return GAUSS[s.eps]/math.sqrt(share)
    def draw(s,n,share):
        return s.r.laplace(0,1/(s.eps*share),n) if s.delta==0 else s.r.normal(0,s.sigma(share),n)
GAUSS={}   # sd of a single number with whole budget: from race_info 6.13*sqrt(19/20)
GAUSS[1]=4.334429*math.sqrt(.95)
GAUSS[.1]=37.247826*math.sqrt(.95)
CS=1/20
def total(noise,N,parts):
    """combined count from noisy count and sums of node sets; parts: list of (nodes, sigma)"""
    c=N+noise.draw(1,CS)[0]; p=1/noise.sigma(CS)**2; w=c*p
    for y,sd in parts: w+=y.sum()/(len(y)*sd**2); p+=1/(len(y)*sd**2)
    return w/p
def err(t,est): return 1e4*math.sqrt(np.mean((est-t)**2))
def uniform_answer(T,h,y,sd,N,pm=True):
    y=y-(y.sum()-N)/len(y)
    if pm and h<=.25:
        y,ms=masses(y,sd*sd)
        s=T.mat[h]@y
        if len(ms): s=s+kern(T.q[:,None]-ms[None,:,0]*(T.mesh[h][1]))@ms[:,1]
        return s/N
    return T.mat[h]@y/N
def uniform(T,noise,h,share=1-CS,look=0,pm=True):
    sh=share*(1-look); y=T.exact[h]+noise.draw(len(T.exact[h]),sh); sd=noise.sigma(sh)
    return uniform_answer(T,h,y,sd,total(noise,T.N,[(y,sd)]),pm)
def coarsen(y):
    o=y[::2].copy(); o[1:]+=y[1::2]/2; o[:-1]+=y[1::2]/2; return o
def cmat(t,c):
    """[coarse, fine]: coarse hats at fine nodes"""
    k=np.clip(np.searchsorted(c,t,'right')-1,0,len(c)-2); w=(t-c[k])/(c[k+1]-c[k])
    M=np.zeros((len(c),len(t))); i=np.arange(len(t)); M[k,i]+=1-w; M[k+1,i]+=w; return M
def two(T,noise,h,r):
    """two measured scales, answers of each, and GLS answer"""
    sh=(1-CS)/2; h2=h*r; sd=noise.sigma(sh)
    y=T.exact[h]+noise.draw(len(T.exact[h]),sh); z=T.exact[h2]+noise.draw(len(T.exact[h2]),sh)
    N=total(noise,T.N,[(y,sd),(z,sd)])
    a,b=uniform_answer(T,h,y,sd,N),uniform_answer(T,h2,z,sd,N)
    C=CM(T,h,h2); g=T.cache.setdefault(('g',h,h2),cho_factor(np.eye(len(y))+C.T@C)) 
    f=cho_solve(g,y+C.T@z)
    return a,b,uniform_answer(T,h,f,sd,N)
def CM(T,h,h2):
    T.__dict__.setdefault('cache',{})
    if ('c',h,h2) not in T.cache: T.cache['c',h,h2]=cmat(T.mesh[h],T.mesh[h2])
    return T.cache['c',h,h2]
def post(T,noise,h,r):
    y=T.exact[h]+noise.draw(len(T.exact[h]),1-CS); sd=noise.sigma(1-CS); N=total(noise,T.N,[(y,sd)])
    z=y
    for _ in range(int(math.log2(r))): z=coarsen(z)
    return uniform_answer(T,h,y,sd,N), uniform_answer(T,h*r,z,sd*math.sqrt(1.5),N)
def adaptive_answer(T,t,y,N):
    return answer_matrix(t,T.q)@(y-(y.sum()-N)/len(y))/N
def ag(T,noise,alpha=.25,h1=2,coef=.025,power=2,gls=True,least=1/16):
    s1=(1-CS)*alpha; s2=(1-CS)*(1-alpha); c=T.mesh[h1] if h1<=2 else np.linspace(0,T.L,int(T.cells[2]*2/h1)+1)
    e1=count(c,T.x); y1=e1+noise.draw(len(c),s1); sd1,sd2=noise.sigma(s1),noise.sigma(s2)
    hs=[h1/2**i for i in range(12) if h1/2**i>=least*.99]
    t=[0.]
    for i in range(len(c)-1):
        mass=max((y1[i]+y1[i+1])/2,0)/h1   # records within a bandwidth
        h=min(hs,key=lambda h: NORM2/h*sd2**2+(coef*h**power*mass)**2)
        n=int(round(h1/h)); t+=list(c[i]+(c[i+1]-c[i])*np.arange(1,n+1)/n)
    t=np.array(t); y2=count(t,T.x)+noise.draw(len(t),s2)
    N=total(noise,T.N,[(y2,sd2),(y1,sd1)])
    if gls:
        C=cmat(t,c); G=np.eye(len(t))/sd2**2+C.T@C/sd1**2
        y2=np.linalg.solve(G,y2/sd2**2+C.T@y1/sd1**2)
    return adaptive_answer(T,t,y2,N),len(t)
def privtree(T,noise,share=.5,root=None,theta=0,least=1/16):
    """beta 2: lambda=3/eps1, delta = lambda ln 2; the tree is pure; with delta the rest is Gaussian with the rest of eps"""
    e1=noise.eps*(1-CS)*share; lam=3/e1; dl=lam*math.log(2); theta*=lam
    edges=[0.]; x=T.x; r=noise.r
    if root is None: cells=[(0.,T.L,0)]
    else: m=T.mesh[root]; cells=[(m[i],m[i+1],0) for i in range(len(m)-1)]
    out=[]
    # depth-first in order
    stack=cells[::-1]
    while stack:
        a,b,d=stack.pop()
        cnt=np.searchsorted(x,b,'left' if b<T.L else 'right')-np.searchsorted(x,a,'left')
        v=max(cnt-d*dl,theta-dl)+r.laplace(0,lam)
        if v>theta and (b-a)/2>=least*.75: m=(a+b)/2; stack+= [(m,b,d+1),(a,m,d+1)]
        else: out.append(b)
    t=np.array([0.]+out)
    if len(t)<3: t=np.array([0,T.L/2,T.L])
    s2=(1-CS)*(1-share)
    if noise.delta==0: sd2=noise.sigma(s2); n=noise.draw(len(t),s2)
    else: sd2=GAUSS[noise.eps]/math.sqrt(1-CS)/(1-share); n=r.normal(0,sd2,len(t))   # eps adds up
    y=count(t,T.x)+n; N=total(noise,T.N,[(y,sd2)])
    return adaptive_answer(T,t,y,N),len(t)
