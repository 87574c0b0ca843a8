import assert from 'node:assert/strict';
import type { AppsV1Api, V1Deployment } from '@kubernetes/client-node';
import { ApiException, KubeConfig } from '@kubernetes/client-node';

export function kubeConfigOf({ kubeconfig }: { readonly kubeconfig: { readonly text: string } }): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig.text);
  return config;
}

/** The same user on another way to the server. */
export function kubeConfigVia(config: KubeConfig, server: string): KubeConfig {
  const other = new KubeConfig();
  other.loadFromOptions({
    clusters: config.getClusters().map((cluster) => ({ ...cluster, server })),
    users: config.getUsers(),
    contexts: config.getContexts(),
    currentContext: config.getCurrentContext(),
  });
  return other;
}

/** The fields of a Status object that say why the server refused. */
export interface Refusal {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] };
}

/** The server's Status where it refuses. @throws AssertionError where it does not */
export async function refusalOf(answer: Promise<unknown>): Promise<Refusal> {
  const outcome = await answer.then(
    () => new assert.AssertionError({ message: 'the server did not refuse' }),
    (error: unknown) => error,
  );
  if (!(outcome instanceof ApiException)) throw outcome;
  const body: unknown = outcome.body;
  return (typeof body === 'string' ? JSON.parse(body) : body) as Refusal;
}

/** @param reason undefined: the Status has none */
export async function refused(answer: Promise<unknown>, code: number, reason?: string): Promise<Refusal> {
  const refusal = await refusalOf(answer);
  assert.deepEqual([refusal.code, refusal.reason], [code, reason], refusal.message);
  return refusal;
}

export const aDeployment = (name: string, replicas: number): V1Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'nginx:1.27', ports: [{ containerPort: 80 }] }] },
    },
  },
});

export async function createDeployment(
  apps: AppsV1Api,
  namespace: string,
  { name = 'web', replicas = 0 } = {},
): Promise<V1Deployment> {
  return apps.createNamespacedDeployment({ namespace, body: aDeployment(name, replicas) });
}
