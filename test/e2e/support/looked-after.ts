import { join } from 'node:path';
import type { HttpApiClient } from '../../../src/client/api-client/index.js';
import { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { aDeployment } from './a-deployment.js';
import { anyKubectl } from './kubectl.js';
import { Rollouts } from './rollouts.js';
import type { SharedUp } from './shared-up.js';
import { run } from './up.js';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');
/** The prefix of the annotations of policies. */
export const PREFIX = 'rollkeeper.dev/';
const binary = anyKubectl()?.binary;

/** The actions of a person on the rollouts of one namespace. */
export class LookedAfter {
  readonly rollouts: Rollouts;

  constructor(
    readonly up: SharedUp,
    readonly client: HttpApiClient,
    readonly namespace: string,
  ) {
    this.rollouts = new Rollouts(client, namespace);
  }

  /** Rolled out at `web:1`, under these policies. */
  async start(name: string, policies: Record<string, string>, replicas = 5): Promise<void> {
    const deployment = aDeployment({ namespace: this.namespace, name, replicas });
    const annotations = Object.fromEntries(
      Object.entries(policies).map(([key, value]) => [PREFIX + key, value]),
    );
    await this.client.create(Deployment, {
      ...deployment,
      metadata: { ...deployment.metadata, annotations },
    });
    await this.rollouts.rolledOut(name);
  }

  async annotate(name: string, key: string, value: string | null): Promise<void> {
    const body = { metadata: { annotations: { [PREFIX + key]: value } } };
    await this.client.patch(Deployment, { namespace: this.namespace, name }, { type: 'merge', body });
  }

  async progressing(name: string): Promise<string> {
    const { status } = await this.rollouts.read(name);
    const found = status?.conditions?.find(({ type }) => type === 'Progressing');
    return `${found?.reason} ${found?.message}`;
  }

  async says(name: string, text: string): Promise<void> {
    await waitFor(async () => (await this.progressing(name)).includes(text), {
      what: `${name} to say ${text}`,
    });
  }

  /** The sizes by image, of those with pods. */
  async sizes(name: string): Promise<Record<string, number>> {
    const active = (await this.revisions(name)).filter(({ spec }) => (spec.replicas ?? 1) > 0);
    return Object.fromEntries(
      active.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas ?? 1]),
    );
  }

  async revisions(name: string): Promise<readonly ReplicaSet[]> {
    const { items } = await this.client.list<ReplicaSet>(ReplicaSet, {
      namespace: this.namespace,
      labelSelector: `app=${name}`,
    });
    return items;
  }

  async sized(name: string, sizes: Record<string, number>): Promise<void> {
    const sorted = (all: Record<string, number>): string => JSON.stringify(Object.entries(all).sort());
    await waitFor(async () => sorted(await this.sizes(name)) === sorted(sizes), {
      what: `the sizes ${sorted(sizes)} of ${name}`,
    });
  }

  rollkeeper(...args: string[]): ReturnType<typeof run> {
    return run(process.execPath, [MAIN, ...args, '--kubeconfig', this.up.kubeconfig]);
  }

  kubectl(...args: string[]): ReturnType<SharedUp['kubectl']> {
    return this.up.kubectl(binary ?? '', ['-n', this.namespace, ...args]);
  }
}

/** The image of its only container. */
export function imageOf({ spec }: Deployment): string | undefined {
  return spec.template.spec?.containers[0]?.image;
}
