import type { ApiClient } from '../../../src/client/api-client/index.js';
import { Deployment } from '../../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';

/** The actions of a user on the Deployments of a namespace. */
export class Rollouts {
  constructor(
    private readonly client: ApiClient,
    private readonly namespace = 'default',
  ) {}

  read(name: string): Promise<Deployment> {
    return this.client.get<Deployment>(Deployment, { namespace: this.namespace, name });
  }

  /** A new image for the container `web`. */
  setImage(name: string, image: string): Promise<Deployment> {
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
    return this.client.patch(Deployment, { namespace: this.namespace, name }, { type: 'strategic', body });
  }

  scale(name: string, replicas: number): Promise<Deployment> {
    const body = { spec: { replicas } };
    return this.client.patch(Deployment, { namespace: this.namespace, name }, { type: 'merge', body });
  }

  async isRolledOut(name: string): Promise<boolean> {
    const { metadata, spec, status } = await this.read(name);
    return (
      status?.observedGeneration === metadata.generation &&
      status?.updatedReplicas === spec.replicas &&
      status?.replicas === spec.replicas &&
      status?.availableReplicas === spec.replicas
    );
  }

  async rolledOut(name: string): Promise<Deployment> {
    await waitFor(() => this.isRolledOut(name).catch(() => false), {
      what: `${name} to be rolled out`,
    });
    return this.read(name);
  }

  /** Waits until the controllers have seen the generation that a change made. */
  async seen({ metadata: { generation, name } }: Deployment): Promise<void> {
    await waitFor(
      async () => ((await this.read(name)).status?.observedGeneration ?? 0) >= (generation ?? 0),
      {
        what: 'the change to be seen',
      },
    );
  }
}
