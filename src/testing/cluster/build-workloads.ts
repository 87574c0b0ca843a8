import type { ApiClient } from '@rollkeeper/client/api-client';
import type { SigningAuthority } from '@rollkeeper/controllers/certificates/certificate-controllers';
import { withSigningAuthority } from '@rollkeeper/controllers/registry';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Coordination } from '@rollkeeper/runtime/operator/coordination';
import { SimulatedNodes } from '@rollkeeper/simulator';
import { Controllers } from './controllers.js';
import type { CompiledTestClusterOptions } from './test-cluster.options.js';
import { TestScheduler } from './test-scheduler.js';
import { Workloads } from './workloads.js';

/** The place that the workloads of a cluster depend on. */
interface WorkloadsPlace {
  readonly client: ApiClient;
  /** The client of the nodes. @default `client` */
  readonly nodeClient?: ApiClient;
  readonly coordination: Coordination;
  /** The cluster's wall time with the machine's durations. */
  readonly clock: Clock;
  /** The clock of nodes and pods. */
  readonly objectClock: Clock;
  readonly random: RandomSource;
  /** The CA of the API server, PEM. */
  readonly rootCa: string;
  /** Absent: certificates are not signed. */
  readonly signing?: SigningAuthority;
}

/** The controllers, nodes and scheduler that the options ask for. Nothing runs yet. */
export function buildWorkloads(
  {
    controllers: definitions,
    logger,
    nodes: nodeOptions,
    scheduler: schedulerOptions,
  }: CompiledTestClusterOptions,
  place: WorkloadsPlace,
): Workloads {
  const { client, clock, coordination, nodeClient = client, objectClock, random, rootCa } = place;
  const shared = { client, clock, random, logger };
  const nodes =
    nodeOptions &&
    new SimulatedNodes(
      { client: nodeClient, clock: objectClock, machineClock: clock, random, logger },
      nodeOptions,
    );
  return new Workloads({
    controllers:
      definitions.length === 0
        ? undefined
        : new Controllers(withSigningAuthority(definitions, place.signing), {
            ...shared,
            ...{ coordination, rootCa },
          }),
    nodes,
    scheduler:
      schedulerOptions && new TestScheduler({ ...shared, ...schedulerOptions, ...(nodes && { nodes }) }),
  });
}
