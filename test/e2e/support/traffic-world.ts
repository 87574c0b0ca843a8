import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EvenSpread } from '../../../examples/traffic/gateway/choose-backend.ts';
import { Gateway, GatewayClass, HTTPRoute } from '../../../examples/traffic/gateway/gateway-api.ts';
import { ConstantLoad } from '../../../examples/traffic/load/constant-load.ts';
import type { RouteRule } from '../../../examples/traffic/gateway/gateway-api.ts';
import type { Outcome, Tally } from '../../../examples/traffic/load/tally.ts';
import type { TrafficOptions } from '../../../examples/traffic/traffic.ts';
import { Traffic } from '../../../examples/traffic/traffic.ts';
import type { ApiClient } from '../../../src/client/api-client/index.js';
import { isAlreadyExists, isNotFound } from '../../../src/client/api-client/index.js';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { Kind, KubernetesObject, Pod as PodObject } from '../../../src/machinery/kubernetes/index.js';
import { Deployment, Pod, findCondition } from '../../../src/machinery/kubernetes/index.js';
import { defineKind, typeMeta } from '../../../src/runtime/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';

/** The folder with the kinds of the Gateway API. */
export const DEFINITIONS = join(import.meta.dirname, '..', '..', '..', 'examples', 'traffic', 'definitions');
/** The kind of definitions of kinds. */
export const Definition = defineKind({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
const PREFIX = 'rollkeeper.dev/';

export interface TrafficWorldOptions extends Pick<TrafficOptions, 'onDeletion' | 'answer' | 'graceMs'> {
  /** Under `rollkeeper.dev/`, beside `traffic`. */
  readonly policies: Readonly<Record<string, string>>;
  /** @default 3 */
  readonly replicas?: number;
  /** @default 100 */
  readonly ratePerSecond?: number;
}

/** A Deployment `web` at the image `web:1` behind a gateway, in a namespace of its own, under constant load. */
export class TrafficWorld {
  /** Every request since the Deployment was rolled out for the first time. */
  readonly all: Tally;

  private constructor(
    readonly client: ApiClient,
    readonly namespace: string,
    readonly traffic: Traffic,
  ) {
    this.all = traffic.load.count();
    traffic.load.start();
  }

  /** The namespace has to exist. */
  static async start(
    client: ApiClient,
    namespace: string,
    { policies, ratePerSecond = 100, replicas = 3, ...options }: TrafficWorldOptions,
  ): Promise<TrafficWorld> {
    for (const file of readdirSync(DEFINITIONS)) await create(client, Definition, definitionIn(file));
    const spec = { controllerName: 'example.com/small-gateway' };
    await create(client, GatewayClass, { ...typeMeta(GatewayClass), metadata: { name: 'small' }, spec });
    const metadata = { namespace, name: 'web' };
    await create(client, Gateway, {
      ...{ ...typeMeta(Gateway), metadata },
      spec: { gatewayClassName: 'small', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    });
    const backendRefs = [
      { name: 'web-stable', port: 80, weight: 100 },
      { name: 'web-canary', port: 80, weight: 0 },
    ];
    await create(client, HTTPRoute, {
      ...{ ...typeMeta(HTTPRoute), metadata },
      spec: { parentRefs: [{ name: 'web' }], hostnames: [`${namespace}.local`], rules: [{ backendRefs }] },
    });
    await create(client, Deployment, deploymentOf(namespace, replicas, policies));
    const traffic = await Traffic.start({
      ...{ client, ratePerSecond, clock: new SystemClock(), logger: silentLogger, random: new EvenSpread() },
      ...options,
      ...{ host: `${namespace}.local`, namespaces: [namespace] },
    });
    let last: Outcome = {};
    const isAnswered = async (): Promise<boolean> => (last = await traffic.load.send()).image === 'web:1';
    try {
      await waitFor(isAnswered, { what: 'the first answer', timeoutMs: 60_000 });
    } catch (error) {
      await traffic.stop();
      const { status } = await client.get<Deployment>(Deployment, metadata);
      throw new Error(`${last.failure}, ${JSON.stringify(status)}`, { cause: error });
    }
    return new TrafficWorld(client, namespace, traffic);
  }

  async stop(): Promise<void> {
    await this.traffic.stop();
  }

  get ref() {
    return { namespace: this.namespace, name: 'web' };
  }

  deployment(): Promise<Deployment> {
    return this.client.get<Deployment>(Deployment, this.ref);
  }

  async pods(): Promise<readonly PodObject[]> {
    return (await this.client.list<PodObject>(Pod, { namespace: this.namespace })).items;
  }

  /** The rules of the route. */
  async rules(): Promise<readonly RouteRule[]> {
    return (await this.client.get(HTTPRoute, this.ref)).spec.rules ?? [];
  }

  /** Clients whose requests have these headers. Each burst of theirs is counted for itself. */
  clientsWith(headers: Readonly<Record<string, string>>, path = '/', ratePerSecond?: number): ConstantLoad {
    const all = { host: `${this.namespace}.local`, ...headers };
    const { port } = this.traffic.gateway;
    return new ConstantLoad({ clock: new SystemClock(), headers: all, path, port, ratePerSecond });
  }

  setImage(image: string): Promise<Deployment> {
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
    return this.client.patch(Deployment, this.ref, { type: 'strategic', body });
  }

  scale(replicas: number): Promise<Deployment> {
    return this.client.patch(Deployment, this.ref, { type: 'merge', body: { spec: { replicas } } });
  }

  /** Under `rollkeeper.dev/`. */
  annotate(policies: Readonly<Record<string, string | null>>): Promise<Deployment> {
    const annotations = prefixed(policies);
    return this.client.patch(Deployment, this.ref, { type: 'merge', body: { metadata: { annotations } } });
  }

  /** The weights of the stable and the canary Service, `80/20`. */
  async weights(): Promise<string> {
    const { spec } = await this.client.get(HTTPRoute, this.ref);
    return (spec.rules?.[0]?.backendRefs ?? []).map(({ weight = 1 }) => weight).join('/');
  }

  /** Waits until these weights are in the route, and the gateway says that it has seen them. */
  async weigh(weights: string): Promise<void> {
    await waitFor(async () => (await this.weights()) === weights && (await this.isSeen()), {
      ...{ what: `the weights ${weights}`, intervalMs: 20, timeoutMs: 90_000 },
    });
  }

  private async isSeen(): Promise<boolean> {
    const { metadata, status } = await this.client.get(HTTPRoute, this.ref);
    const conditions = status?.parents[0]?.conditions ?? [];
    return conditions.every(({ observedGeneration }) => observedGeneration === metadata.generation);
  }

  /** `REASON MESSAGE` of the condition Progressing. */
  async says(text: string): Promise<void> {
    const said = async (): Promise<string> => {
      const found = findCondition((await this.deployment()).status?.conditions, 'Progressing');
      return `${found?.reason} ${found?.message}`;
    };
    await waitFor(async () => (await said()).includes(text), {
      ...{ what: `web to say ${text}`, intervalMs: 20, timeoutMs: 90_000 },
    });
  }

  /** Waits until all pods have this image, nothing else runs, and the stable Service has all requests. */
  async settledAt(image: string, timeoutMs = 120_000): Promise<void> {
    const isSettled = async (): Promise<boolean> => {
      const { metadata, spec, status } = await this.deployment();
      const pods = await this.pods();
      return (
        status?.observedGeneration === metadata.generation &&
        status?.availableReplicas === spec.replicas &&
        pods.length === spec.replicas &&
        pods.every((pod) => pod.spec.containers[0]?.image === image) &&
        (await this.weights()) === '100/0'
      );
    };
    await waitFor(isSettled, { what: `${image} to run alone`, timeoutMs });
  }

  /**
   * The share of an image in this many requests and those that are sent beside them, in per cent. The gateway spreads
   * all requests evenly, so the shares of only a part would differ by chance.
   */
  async shareOf(image: string, requests: number): Promise<number> {
    const { load } = this.traffic;
    const tally = load.count();
    await load.burst(requests);
    load.forget(tally);
    if (tally.failed > 0) throw new Error(`requests failed: ${JSON.stringify(tally.failures)}`);
    return 100 * tally.shareOf(image);
  }
}

function definitionIn(file: string): KubernetesObject {
  return parse(readFileSync(join(DEFINITIONS, file), 'utf8')) as KubernetesObject;
}

function prefixed<T>(policies: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(policies).map(([name, value]) => [PREFIX + name, value]));
}

function deploymentOf(
  namespace: string,
  replicas: number,
  policies: Readonly<Record<string, string>>,
): Deployment {
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image: 'web:1', ports: [{ containerPort: 8080 }] }];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' as const },
    metadata: { namespace, name: 'web', annotations: prefixed({ traffic: 'httproute/web', ...policies }) },
    spec: {
      ...{ replicas, selector: { matchLabels: labels } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

/** Creates an object if there is none of its name. It tries again while the kind is not served yet: its definition may be new. */
async function create<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  object: T,
): Promise<void> {
  await waitFor(
    async () => {
      try {
        await client.create(kind, object);
        return true;
      } catch (error) {
        if (isAlreadyExists(error)) return true;
        if (isNotFound(error)) return false;
        throw error;
      }
    },
    { what: `${kind.kind} to be served` },
  );
}
