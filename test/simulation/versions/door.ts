import type { ApiConnections, RequestDispatcher } from '../../../src/client/api-client/index.js';
import { NotStartedError } from '../../../src/client/api-client/index.js';
import type { HttpSender } from '../../../src/controllers/deployment/index.js';
import {
  NoAnswerError,
  createAdmissionDriftController,
  createDeploymentController,
  createDrainController,
  deploymentController,
  parseHostRules,
} from '../../../src/controllers/deployment/index.js';
import { createGarbageCollectorController } from '../../../src/controllers/garbage-collector/garbage-collector-definition.js';
import { replicaSetController } from '../../../src/controllers/replicaset/index.js';
import { endpointSliceController } from '../../../src/controllers/service-endpoints/endpoint-slice-controller.js';
import { pause, replaceTurns } from '../../../src/machinery/clock/index.js';
import { stringifyJson } from '../../../src/machinery/kubernetes/index.js';
import type { Logger } from '../../../src/machinery/logging/index.js';
import { reachHost } from '../../../src/redis/connection/index.js';
import { redisCoordination } from '../../../src/redis/index.js';
import type { ActorRuntime } from '../../../src/runtime/activation/index.js';
import type { ControllerDefinition, SyncObserver } from '../../../src/runtime/index.js';
import type { Tracing } from '../../../src/runtime/telemetry/index.js';
import type { ApiNetwork, RunningReplica, SimulatedProcess } from '../../../src/testing/simulation/index.js';
import { Replica } from '../../../src/testing/simulation/replica.js';
import type { WorldKind } from '../plan.js';

/** The parts of a plan that decide what a replica does. */
export interface ReplicaPlan {
  /** @default true */
  readonly collectsGarbage?: boolean;
  /** Whether the world is that of `policies`, for a version that knows no other. @default false */
  readonly policies?: boolean;
  /** The Deployments of the world. @default by `policies` */
  readonly world?: WorldKind;
  /** Over how many slots the namespaces are spread. @default they are not */
  readonly slots?: number;
}

/** The parts of a world that all replicas of a version share. */
export interface SharedPorts {
  /** Calls back once all promises have run to their end, as `setImmediate` does. */
  readonly atTurn: (turn: () => void) => void;
  /** The simulated Redis, by the name of its host. Absent: there is none. */
  readonly redis?: { readonly host: string; readonly connector: Parameters<typeof reachHost>[1] };
}

/** All that a world gives to one replica. */
export interface ReplicaPorts {
  /** With a clock and a source of chance of its own. */
  readonly process: SimulatedProcess;
  /** The network to the API server. */
  readonly connections: ApiConnections;
  readonly coordination: 'leases' | { readonly redisUrl: string };
  readonly takeover: 'witness' | 'expiry';
  readonly plan: ReplicaPlan;
  /** Watches its activations, if it coordinates by Redis. */
  readonly actorsView: (actors: ActorRuntime) => ActorRuntime;
  /** Watch its decisions. */
  readonly observers: readonly SyncObserver[];
  /** @default silent */
  readonly logger?: Logger;
  /** @default no spans */
  readonly tracing?: Tracing;
  /** The body of the answer of the pod with the address in a URL; undefined: it does not answer. @default none does */
  readonly sessionsAt?: (url: string) => string | undefined;
}

/** The kinds that the API server has do not change here. */
const garbageCollector = createGarbageCollectorController({ discoveryIntervalMs: 600_000 });
const underPolicies = createDeploymentController({ blueGreen: true, zones: true });

/** The host of the queries. */
const PROMETHEUS_HOST = 'prometheus.test';
/** The check of all steps, which fails from 1 on. */
export const CHECKS = {
  slo: stringifyJson({
    prometheus: { address: `http://${PROMETHEUS_HOST}`, query: 'slo', condition: '< 1' },
    interval: '10s',
  }),
};
/** The slowest answer, milliseconds. */
const MOST_MS = 2000;
/** How many of the answers are bad, and how many requests get none, from 0 to 1. */
const CHANCES = { bad: 0.1, none: 0.2 };

/** The way of a replica to a Prometheus whose answers are drawn by the seed. */
function simulatedPrometheus(process: SimulatedProcess): HttpSender {
  return {
    async send(_request, signal) {
      const [takes, answer] = [process.random.next(), process.random.next()];
      await pause(process.clock, MOST_MS * takes ** 2, signal);
      signal.throwIfAborted();
      if (answer < CHANCES.none) throw new NoAnswerError('away');
      const value = answer < CHANCES.none + CHANCES.bad ? '1' : '0';
      const data = { resultType: 'scalar', result: [1, value] };
      return { status: 200, body: stringifyJson({ status: 'success', data }) };
    },
  };
}

/** The way of a replica to the pods that drain. Each answers late, with nothing that can be read, or not at all. */
function simulatedPods(
  process: SimulatedProcess,
  sessionsAt: NonNullable<ReplicaPorts['sessionsAt']>,
): HttpSender & { close(): Promise<void> } {
  return {
    async send({ timeoutMs, url }, signal) {
      const [takes, answer] = [process.random.next(), process.random.next()];
      await pause(process.clock, Math.min(timeoutMs, MOST_MS * takes ** 2), signal);
      signal.throwIfAborted();
      const body = sessionsAt(url);
      if (body === undefined || answer < CHANCES.none) throw new NoAnswerError('away');
      return answer < CHANCES.none + CHANCES.bad ? { status: 503, body: '0' } : { status: 200, body };
    },
    close: () => Promise.resolve(),
  };
}

/** The controllers of each replica. */
export function controllersOf(
  { collectsGarbage = true, policies = false, world = policies ? 'policies' : 'plain' }: ReplicaPlan,
  process: SimulatedProcess,
  sessionsAt: NonNullable<ReplicaPorts['sessionsAt']> = () => undefined,
): readonly ControllerDefinition[] {
  const ofDeployments = {
    plain: () => [deploymentController],
    policies: () => [underPolicies],
    requests: () => ofRequests(process),
    lifetimes: () => ofLifetimes(process, sessionsAt),
  };
  return [...ofDeployments[world](), replicaSetController, ...(collectsGarbage ? [garbageCollector] : [])];
}

function ofRequests(process: SimulatedProcess): readonly ControllerDefinition[] {
  const hosts = parseHostRules(PROMETHEUS_HOST, 'check-hosts');
  const checks = { hosts, sender: simulatedPrometheus(process) };
  return [createDeploymentController({ traffic: true, checks }), endpointSliceController];
}

function ofLifetimes(
  process: SimulatedProcess,
  sessionsAt: NonNullable<ReplicaPorts['sessionsAt']>,
): readonly ControllerDefinition[] {
  return [
    createDeploymentController({ drainSessions: true, watchAdmission: true }),
    createDrainController({ senderOf: () => simulatedPods(process, sessionsAt) }),
    createAdmissionDriftController('apps/v1'),
    endpointSliceController,
  ];
}

/**
 * Lets the modules of this version run in a world that another version made.
 * @returns ends it
 */
export function join({ atTurn, redis }: SharedPorts): () => void {
  const ends = [replaceTurns(atTurn), ...(redis ? [reachHost(redis.host, redis.connector)] : [])];
  return () => {
    for (const end of ends) end();
  };
}

/**
 * Starts a replica of this version. Each version of the product has this file, and a world may be of another version: nothing that
 * it is given may be compared with a class of this version, and what an older door takes has to stay.
 */
export function startReplica(ports: ReplicaPorts): Promise<RunningReplica> {
  const { actorsView, connections, coordination, logger, observers, plan, process, takeover, tracing } =
    ports;
  const isOnRedis = coordination !== 'leases';
  const factory = isOnRedis ? redisCoordination(coordination.redisUrl) : undefined;
  return Replica.start(process, {
    controllers: controllersOf(plan, process, ports.sessionsAt),
    coordination: factory ? (parts) => factory({ ...parts, actorsView }) : 'leases',
    api: { connectionsOf: () => askedHere(connections) } as unknown as ApiNetwork,
    ownSteps: isOnRedis,
    manager: {
      ...{ observers, leaderElection: { takeover }, ...(tracing && { tracing }) },
      ...(plan.slots !== undefined && { slots: plan.slots }),
    },
    ...(logger && { logger }),
  });
}

/** The same connections, but whether a request may start is asked here: its refusal has the class of this version. */
function askedHere(connections: ApiConnections): ApiConnections {
  const asked = (dispatcher: RequestDispatcher): RequestDispatcher => ({
    request: async ({ mayStart, ...options }) => {
      try {
        mayStart?.();
      } catch (reason) {
        throw new NotStartedError(reason);
      }
      return dispatcher.request(options);
    },
  });
  const { requests, streams } = connections.current();
  const both = { requests: asked(requests), streams: asked(streams) };
  return { ...connections, current: () => both };
}
