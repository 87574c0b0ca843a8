import type { ApiClient } from '../../src/client/api-client/index.js';
import { isAlreadyExists } from '../../src/client/api-client/index.js';
import { Deployment, Namespace, Pod } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import type { Violation } from './checkers/violation.js';

const NAMESPACE = 'unready';
const NAME = 'waits';
const TIMES = 3;
const REPLACED_WITHIN_MS = 30_000;

/**
 * A Deployment whose pod fits on no node: to replace it changes no status, so that no sync follows by itself. At rest its pod is
 * deleted a few times, and each replacement must have a name of its own.
 */
export class DeletedPods {
  checks = 0;

  constructor(private readonly client: ApiClient) {}

  async prepare(): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    const deployment = aDeployment({ name: NAME, namespace: NAMESPACE });
    if (deployment.spec.template.spec) deployment.spec.template.spec.nodeSelector = { 'no-such': 'node' };
    await this.client.create(Namespace, namespace).catch(unlessExists);
    await this.client.create(Deployment, deployment).catch(unlessExists);
  }

  async check(): Promise<Violation[]> {
    const names: string[] = [];
    let lastUid: string | undefined;
    for (let time = 0; time <= TIMES; time++) {
      const pod = await this.podOtherThan(lastUid);
      if (!pod) return [{ check: 'pod names', subject: NAME, problem: 'its deleted pod is not replaced' }];
      names.push(pod.metadata.name);
      lastUid = pod.metadata.uid;
      if (time < TIMES) await this.client.delete(Pod, pod.metadata);
    }
    this.checks += 1;
    if (new Set(names).size === names.length) return [];
    return [{ check: 'pod names', subject: NAME, problem: `a deleted pod came back: ${names.join(', ')}` }];
  }

  private async podOtherThan(uid: string | undefined): Promise<Pod | undefined> {
    let found: Pod | undefined;
    const look = async (): Promise<boolean> => {
      const { items } = await this.client.list<Pod>(Pod, { namespace: NAMESPACE });
      found = items.find(({ metadata }) => metadata.uid !== uid && !metadata.deletionTimestamp);
      return found !== undefined;
    };
    await waitFor(look, { timeoutMs: REPLACED_WITHIN_MS, intervalMs: 50, what: 'the pod' }).catch(
      () => undefined,
    );
    return found;
  }
}

function unlessExists(error: unknown): undefined {
  if (isAlreadyExists(error)) return undefined;
  throw error;
}
