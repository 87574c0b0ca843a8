import { uuidOf } from '@rollkeeper/machinery/clock';
import { VERSION } from '@rollkeeper/machinery/version';
import { LeaseLostError } from '@rollkeeper/machinery/errors';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { ControllerDefinition } from '../../controller/index.js';
import type { EventRecorder } from '@rollkeeper/client/events';
import { ApiEventRecorder } from '@rollkeeper/client/events';
import type { HealthRegistry } from '../../health/index.js';
import { EventLoopMonitor } from '../../health/index.js';
import type { InformerFactory } from '@rollkeeper/client/informer';
import {
  LeaseCandidacy,
  LeaseResourceLock,
  MemoryLease,
  MemoryResourceLock,
} from '../../leader-election/index.js';
import type { InformerGroup, ManagedController, Runnable } from '../../manager/index.js';
import { Manager, readabilityOf } from '../../manager/index.js';
import type { Metrics, Tracing } from '../../telemetry/index.js';
import {
  createControllerMetrics,
  createEventRecorderMetrics,
  createLeaderElectionMetrics,
  createWorkQueueMetrics,
  observeReadability,
  observeSlots,
} from '../../telemetry/index.js';
import { assembleController } from './assemble-controller.js';
import type { SharedParts } from './assemble-controller.js';
import type { AssembledSlots } from './assemble-slots.js';
import { assembleSlots } from './assemble-slots.js';
import { ClusterGuard } from './cluster-guard.js';
import type { Coordination, CoordinationFactory } from '../coordination/coordination.js';
import type { CompiledManagerOptions } from './create-manager.options.js';
import type { ElectionDependencies } from './election.js';
import { Election } from './election.js';
import type { ManagerExtension } from './manager-extension.js';
import { ObstacleWatch } from './obstacle-watch.js';
import { registerChecks } from './register-checks.js';

/** The parts of a manager. */
export type ManagerParts = Omit<CompiledManagerOptions, 'coordination' | 'extensions'> & {
  readonly client: ApiClient;
  readonly coordination: CoordinationFactory;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly extensions: readonly ManagerExtension[];
};

export interface Assembly {
  readonly manager: Manager;
  /** Absent: keys are not spread by slots. */
  readonly slots: AssembledSlots | undefined;
  readonly controllers: readonly ManagedController[];
  readonly coordination: Coordination;
  /** Absent: the coordination has no cluster claims. */
  readonly guard: ClusterGuard | undefined;
  readonly election: Election;
  /** The recorder of a component. */
  eventsOf(component: string): EventRecorder;
  /** Closes its own connections. */
  close(): Promise<void>;
}

/** The caches of a replica. */
export interface Caches {
  /** With slots, of the namespaces of the slots that it holds; otherwise the same as `whole`. */
  readonly informers: InformerFactory;
  /** For what must see all namespaces. */
  readonly whole: InformerFactory;
}

/** Assembles a replica: controllers, election, manager, health checks, metrics. Nothing connects or runs yet. */
export function assembleManager(
  definitions: readonly ControllerDefinition[],
  { informers, whole }: Caches,
  health: HealthRegistry,
  parts: ManagerParts,
): Assembly {
  const { client, clock, logger, random, reconcileOn } = parts;
  const { meter } = parts.metrics;
  const { tracer } = parts.tracing;
  const queueParts = queuePartsOf(definitions, parts);
  const coordination = parts.coordination({ keyPrefix: parts.prefix, ...queueParts });
  const events = recorderOf(parts, coordination);
  // A restarted process of the same name must not mistake its predecessor's lease for its own.
  const ofThisLife = `${parts.identity}_${uuidOf(random)}`;
  const candidate = candidateOf(parts, coordination, ofThisLife);
  const slots = assembleSlots({
    ...{ slots: parts.slots, ofThisLife, coordination, informers, clock, logger },
    isNeeded: (informer) => controllers.some(({ needs = [] }) => needs.includes(informer)),
  });
  const election = electionOf(parts, candidate, events);
  const obstacles = new ObstacleWatch({ informers: whole, clock, logger });
  const shared: SharedParts = {
    ...sharedParts(definitions, parts, coordination),
    informers: whole,
    slots: slots && { held: slots.held, informers },
    obstructedKeysOf: (queue) => obstacles.keysOf(queue),
    eventsOf: (component) => events.as(component),
    assertLeads: () => {
      if (!election.isLeader) throw new LeaseLostError('this replica does not lead any more');
    },
  };
  const controllers: readonly ManagedController[] = definitions.map((definition) =>
    assembleController(definition, shared),
  );
  if (slots) observeSlots(meter, slots);
  observeReadability(meter, () => controllers.flatMap(readabilityByName));
  const guard = guardOf(parts, coordination);
  const eventLoop = new EventLoopMonitor(clock);
  const manager = new Manager({
    informers: informers === whole ? informers : together(informers, whole),
    slots,
    elector: election,
    controllers,
    handover: coordination,
    background: [events, eventLoop, obstacles, ...(guard ? [guard] : []), ...beside(parts)],
    ...{ reconcileOn, clock, logger, tracer },
  });
  const caches = informers === whole ? [informers] : [informers, whole];
  registerChecks(health, {
    informers: { all: () => caches.flatMap((each) => each.all()) },
    ...{ manager, election, controllers, client, coordination, eventLoop, reconcileOn },
  });
  const close = async (): Promise<void> => {
    candidate.close();
    await Promise.all(controllers.map(({ queue }) => queue.close()));
    await coordination.close();
  };
  return { manager, slots, controllers, coordination, guard, election, eventsOf: shared.eventsOf, close };
}

function electionOf(parts: ManagerParts, candidate: Candidate, events: ApiEventRecorder): Election {
  const { clock, logger, place, random } = parts;
  return new Election({
    ...candidate,
    lease: { namespace: place.namespace, name: place.name },
    options: parts.election,
    metrics: createLeaderElectionMetrics(parts.metrics.meter, 'leader'),
    ...{ events, clock, random, logger },
  });
}

/** The work in the background that the operator brings. */
function beside({ background = [], extensions }: ManagerParts): readonly Runnable[] {
  return [...background, ...extensions.flatMap(({ background: ofExtension = [] }) => ofExtension)];
}

/** The caches of slots beside those of all namespaces. The leader's keys, which are not in slots, depend on the latter. */
function together(ofSlots: InformerFactory, whole: InformerFactory): InformerGroup {
  return {
    run: async (signal) => void (await Promise.all([ofSlots.run(signal), whole.run(signal)])),
    waitUntilSettled: async (signal) => {
      await Promise.all([ofSlots.waitUntilSettled(signal), whole.waitUntilSettled(signal)]);
    },
    changesSeen: (scope) => whole.changesSeen(scope),
  };
}

function recorderOf(
  { client, clock, logger, metrics, name, random }: ManagerParts,
  { eventLedger: ledger }: Coordination,
): ApiEventRecorder {
  return new ApiEventRecorder({
    ...{ client, clock, random, logger, ledger },
    component: name,
    metrics: createEventRecorderMetrics(metrics.meter),
  });
}

function guardOf(parts: ManagerParts, { claims }: Coordination): ClusterGuard | undefined {
  const { client, clock, cluster, logger, prefix: keyPrefix, random } = parts;
  return claims && new ClusterGuard({ claims, client, keyPrefix, ...cluster, clock, random, logger });
}

function queuePartsOf(
  definitions: readonly ControllerDefinition[],
  { clock, drainTimeoutMs, logger, metrics, random, spreadAfterMs }: ManagerParts,
) {
  const names = definitions.map((each) => each.name);
  return {
    clock,
    random,
    logger,
    drainTimeoutMs,
    spreadAfterMs,
    metrics: createWorkQueueMetrics(metrics.meter, names),
  };
}

/** The parts that every controller is given, but for those that depend on the election. */
function sharedParts(
  definitions: readonly ControllerDefinition[],
  parts: ManagerParts,
  coordination: Coordination,
) {
  const { caughtUpTimeoutMs, client, clock, extensions, identity, logger, random, reconcileOn } = parts;
  const workersOf = new Map(definitions.map((each) => [each.name, each.defaultWorkers]));
  return {
    clientOf: parts.clientOf ?? (() => client),
    activationsOf: coordination.activationsOf.bind(coordination),
    rootCa: parts.rootCa,
    selects: parts.selects,
    ...{ caughtUpTimeoutMs, clock, identity, logger, random, reconcileOn },
    tracer: parts.tracing.tracer,
    observers: [...(parts.observers ?? []), ...extensions.flatMap(({ observer }) => observer ?? [])],
    metrics: createControllerMetrics(parts.metrics.meter, workersOf),
  };
}

type Candidate = Pick<ElectionDependencies, 'lock' | 'witness' | 'candidacy' | 'leaseObject'> & {
  close(): void;
};

/** This replica in the election. */
function candidateOf(
  { client, clock, logger, place }: ManagerParts,
  coordination: Coordination,
  ofThisLife: string,
): Candidate {
  if (place.lock === 'none')
    return { lock: new MemoryResourceLock(new MemoryLease(clock), ofThisLife), close: () => undefined };
  const witness = coordination.witnessOf?.(ofThisLife);
  if (place.lock === 'redis')
    return { lock: coordination.lockOf(ofThisLife), witness, close: () => undefined };
  const { name, namespace } = place;
  const candidacy = place.coordinated
    ? new LeaseCandidacy({
        ...{ client, clock, logger, namespace, name: ofThisLife },
        ...{ leaseName: name, version: VERSION },
      })
    : undefined;
  const lock = new LeaseResourceLock({ client, identity: ofThisLife, clock, candidacy, namespace, name });
  const leaseObject = () => lock.lease;
  return { lock, witness, candidacy, leaseObject, close: () => lock.close() };
}

function readabilityByName(managed: ManagedController) {
  const controller = managed.controller.name;
  return [...readabilityOf(managed)].map((each) => ({ ...each, controller }));
}
