/** The files that the recorded commands name, by file name. */
export const RECORDED_FILES: Readonly<Record<string, string>> = Object.freeze({
  'dep.yaml': deployment(1, 'nginx:1.27'),
  'dep2.yaml': deployment(2, 'nginx:1.28'),
  'bad.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec: {replicas: x, selector: {matchLabels: {a: b}}, bogus: 1, template: {}}
`,
  'many.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: m1}
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m2}
data: {a: b}
---
apiVersion: v1
kind: Secret
metadata: {name: m3}
stringData: {a: b}
`,
  'cm1.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: m1}
data: {a: c}
`,
  'pod.yaml': `apiVersion: v1
kind: Pod
metadata: {name: solo, labels: {run: solo}}
spec:
  nodeSelector: {nosuch: node}
  containers:
  - name: c
    image: "x:1"
    env: [{name: A, value: "1"}]
    resources: {limits: {cpu: 100m, memory: 64Mi}}
    livenessProbe: {httpGet: {port: 80}}
    volumeMounts: [{name: v, mountPath: /v}]
  volumes: [{name: v, emptyDir: {}}, {name: w, configMap: {name: m1}}]
  tolerations: [{key: a, operator: Exists}]
`,
  'crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.kc.example.com}
spec:
  group: kc.example.com
  scope: Namespaced
  names: {plural: gizmos, singular: gizmo, kind: Gizmo, shortNames: [gz], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Wide, type: string, jsonPath: .spec.w, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A gizmo.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How big.}
              w: {type: string}
`,
  'gz.yaml': `apiVersion: kc.example.com/v1
kind: Gizmo
metadata: {name: g1}
spec: {size: 3, w: x, bogus: 1}
`,
  'gz2.yaml': `apiVersion: kc.example.com/v1
kind: Gizmo
metadata: {name: g2}
spec: {size: 0}
`,
  'csr.yaml': `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: kccsr}
spec:
  signerName: a.b/c
  usages: [client auth]
  request: ${certificateRequest()}
`,
});

/** The objects that the recorded cluster held before the first command, and shows in lists of all namespaces. */
export const RECORDED_SURROUNDINGS = `
{apiVersion: v1, kind: Namespace, metadata: {name: validation}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: validation-q}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: nsx}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: dflt}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: pc}
value: 1000
preemptionPolicy: Never
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: sc}
provisioner: a.b/c
allowVolumeExpansion: true
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: s
  hostPath: {path: /x}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pvb}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOncePod]
  persistentVolumeReclaimPolicy: Delete
  csi: {driver: a.b, volumeHandle: h}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`;

/** The objects in the namespace of the commands beside what they put there: quotas count them. */
export const RECORDED_NAMESPACE = {
  createdBy: 'kubectl create ns kc',
  contents: '{apiVersion: v1, kind: ConfigMap, metadata: {name: of-another, namespace: kc}}',
} as const;

function deployment(replicas: number, image: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: nginx, image: "${image}", ports: [{containerPort: 80}], resources: {requests: {cpu: 10m}}}
`;
}

/** The request of CN=kcuser, PEM in base64. */
function certificateRequest(): string {
  const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHLMHMCAQAwETEPMA0GA1UEAwwGa2N1c2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE87wQfBk60ghF7xxq3gt9zc5DpBJfQxHIgxqdmW0roXGww7cjuYCGfLYm
ZRNSr4/EwPNbxVML8HsQ78WbYP5X0KAAMAoGCCqGSM49BAMCA0gAMEUCICGo0mkR
fpYfeOo5kxm66hZB3UEg5iiEoluuCFhNoydOAiEApWVTNV6loGkrH4y6v8UCtfYl
8VgNy3hmvG+tzskiSS0=
-----END CERTIFICATE REQUEST-----
`;
  return Buffer.from(pem).toString('base64');
}
