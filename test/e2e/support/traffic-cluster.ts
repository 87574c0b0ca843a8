import type { IncomingMessage, ServerResponse } from 'node:http';
import { imageOf } from '../../../examples/traffic/gateway/pod-servers.ts';
import type { DeploymentControllerOptions } from '../../../src/controllers/deployment/index.js';
import { createDeploymentController } from '../../../src/controllers/deployment/index.js';
import type { DeepReadonly, Pod } from '../../../src/machinery/kubernetes/index.js';
import { Namespace } from '../../../src/runtime/index.js';
import type { TestCluster } from '../../../src/testing/cluster/index.js';
import { startTestCluster } from '../../../src/testing/cluster/index.js';
import type { TrafficWorldOptions } from './traffic-world.js';
import { DEFINITIONS, TrafficWorld } from './traffic-world.js';

/** A cluster in this process with the kinds of the Gateway API, whose Deployments move real requests. */
export class TrafficCluster {
  /** The paths that each image got, copies of requests too. */
  readonly received = new Map<string, string[]>();
  private world: TrafficWorld | undefined;
  private count = 0;

  private constructor(private readonly cluster: TestCluster) {}

  static async start(options: DeploymentControllerOptions = {}): Promise<TrafficCluster> {
    // The controllers start with the definitions: they wait for all kinds that they watch.
    const bare = { controllers: [], nodes: 0, scheduler: false } as const;
    await using defined = await startTestCluster({ ...bare, manifests: [{ file: DEFINITIONS }] });
    const cluster = await startTestCluster({
      snapshot: await defined.snapshot(),
      controllers: ['*', '-deployment', createDeploymentController({ traffic: true, ...options })],
    });
    return new TrafficCluster(cluster);
  }

  get client(): TestCluster['client'] {
    return this.cluster.client;
  }

  /** A namespace of the test's own. */
  async createNamespace(): Promise<string> {
    const name = `traffic-${++this.count}`;
    await this.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return name;
  }

  /** A Deployment that is rolled out at `web:1`. @param namespace @default a new one */
  async rolledOut(options: TrafficWorldOptions, namespace?: string): Promise<TrafficWorld> {
    const name = namespace ?? (await this.createNamespace());
    this.world = await TrafficWorld.start(this.client, name, {
      ...{ ratePerSecond: 50, answer: this.note },
      ...options,
      policies: { 'traffic-drain': '1s', ...options.policies },
    });
    await this.world.settledAt('web:1');
    return this.world;
  }

  private readonly note = (
    pod: DeepReadonly<Pod>,
    { url = '' }: IncomingMessage,
    response: ServerResponse,
  ): void => {
    const image = imageOf(pod);
    this.received.set(image, [...(this.received.get(image) ?? []), url]);
    response.writeHead(200, { 'x-image': image }).end();
  };

  /** Ends the requests to the last Deployment. */
  async rest(): Promise<void> {
    await this.world?.stop();
    this.world = undefined;
    this.received.clear();
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
  }
}
