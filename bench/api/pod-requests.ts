import type { HttpTarget } from './http-connection.js';
import { requestText } from './http-connection.js';

const PODS = '/api/v1/namespaces/default/pods';

/** A pod as a ReplicaSet creates it, some 1.2 kB; stored it has 2 kB. */
function podText(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: 'web-7c5ddbdf54-',
      namespace: 'default',
      labels: { app: 'web', 'pod-template-hash': '7c5ddbdf54' },
      annotations: { 'example.com/checksum': 'a1b2c3d4e5f60718293a4b5c6d7e8f90' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web-7c5ddbdf54',
          uid: '0e7c7f0e-7d44-4c0c-9a0e-0f3e1de1a5c1',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      containers: [
        {
          name: 'web',
          image: 'registry.example/web:1.27.3',
          ports: [{ containerPort: 80 }],
          env: [
            { name: 'PORT', value: '80' },
            { name: 'LOG_LEVEL', value: 'info' },
          ],
          resources: {
            limits: { cpu: '500m', memory: '128Mi' },
            requests: { cpu: '250m', memory: '64Mi' },
          },
          readinessProbe: { httpGet: { path: '/healthz', port: 80 }, periodSeconds: 5 },
          volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
        },
      ],
      volumes: [{ name: 'cache', emptyDir: {} }],
      nodeName: 'node-1',
    },
  });
}

/** The status that a kubelet writes once a pod runs. */
const STATUS = JSON.stringify({
  status: {
    phase: 'Running',
    hostIP: '10.0.0.1',
    podIP: '10.1.0.7',
    podIPs: [{ ip: '10.1.0.7' }],
    startTime: '2026-01-01T10:00:00Z',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-01-01T10:00:05Z',
    })),
    containerStatuses: [
      {
        name: 'web',
        state: { running: { startedAt: '2026-01-01T10:00:04Z' } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: 'registry.example/web:1.27.3',
        imageID:
          'registry.example/web@sha256:a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
        containerID: 'containerd://f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
        started: true,
      },
    ],
  },
});

/** The verbs whose speed is measured, one request each. */
export type PodVerb = 'create' | 'status' | 'get' | 'delete' | 'list';

export function podRequest(target: HttpTarget, verb: PodVerb, name: string): string {
  switch (verb) {
    case 'create':
      return requestText(target, 'POST', PODS, { type: 'application/json', text: podText(name) });
    case 'status':
      return requestText(target, 'PATCH', `${PODS}/${name}/status`, {
        type: 'application/strategic-merge-patch+json',
        text: STATUS,
      });
    case 'get':
      return requestText(target, 'GET', `${PODS}/${name}`);
    case 'delete':
      return requestText(target, 'DELETE', `${PODS}/${name}`, {
        type: 'application/json',
        text: '{"gracePeriodSeconds":0}',
      });
    case 'list':
      return requestText(target, 'GET', PODS);
  }
}

export const WATCH_PODS = `${PODS}?watch=true&resourceVersion=`;
