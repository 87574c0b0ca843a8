import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isAlreadyExists, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339Micro } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Lease, Namespace, Node } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { EventRecorder, EventNote } from '@rollkeeper/client/events';
import { CAPACITY_ANNOTATION, amountsAnnotation, isSilent } from './node-behaviour.js';
import {
  NODE_LEASE_NAMESPACE,
  NO_TROUBLES,
  isAsReported,
  newNode,
  newNodeLease,
  nodeName,
  nodeStatus,
} from './node-object.js';
import type { NodeTrouble, NodeStatus } from './node-object.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';

/** Reasons of a kubelet's events about its conditions. Source: pkg/kubelet/nodestatus/setters.go. */
const CONDITION_REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { True: 'NodeReady', False: 'NodeNotReady' },
  MemoryPressure: { True: 'NodeHasInsufficientMemory', False: 'NodeHasSufficientMemory' },
  DiskPressure: { True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure' },
  PIDPressure: { True: 'NodeHasInsufficientPID', False: 'NodeHasSufficientPID' },
};

/** The Events of a kubelet about its conditions when they change, for a status about to be written over the node's. */
function decideNodeEvents(node: DeepReadonly<Node>, next: DeepReadonly<NodeStatus>): EventNote[] {
  const before = node.status?.conditions ?? [];
  return (next.conditions ?? []).flatMap(({ status, type }) => {
    const was = before.find((condition) => condition.type === type)?.status;
    const reason = CONDITION_REASONS[type]?.[status];
    if (reason === undefined || was === undefined || was === status) return [];
    return [{ type: 'Normal', reason, message: `Node ${node.metadata.name} status is now: ${reason}` }];
  });
}

interface NodeRegistrarDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly logger: Logger;
  /** The node as cached. @default it is not */
  readonly shown?: () => DeepReadonly<Node> | undefined;
  /** Its troubles now. @default nothing */
  readonly troubles?: () => ReadonlySet<NodeTrouble>;
  /** Whether its machine is off. @default it is on */
  readonly isOff?: () => boolean;
}

/** Maintains one node's objects: the Node, its status, and its Lease. */
export class NodeRegistrar {
  private reportedAtMs = 0;
  private wasSilent = false;
  /** Names of the resources that its annotation has given it. */
  private given: readonly string[] = [];

  constructor(
    private readonly index: number,
    private readonly dependencies: NodeRegistrarDependencies,
    private readonly options: CompiledNodeSimulatorOptions,
  ) {}

  /** Creates or adopts the Node, and reports it ready. */
  async register(signal: AbortSignal): Promise<void> {
    const node = newNode(this.index, this.options, this.dependencies.clock.now());
    try {
      await this.dependencies.client.create(Node, node, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      this.wasSilent = isSilent(
        await this.dependencies.client.get<Node>(Node, { name: node.metadata.name }, { signal }),
      );
      if (this.wasSilent) return;
    }
    await this.report(signal);
    await this.renewLease(signal);
  }

  /** Sends heartbeats until aborted, despite errors. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.dependencies.clock.sleep(this.options.heartbeatMs, signal);
        await this.beat(signal);
      } catch (error) {
        if (isAborted(signal)) return;
        this.dependencies.logger.warn('heartbeat failed', {
          node: nodeName(this.index),
          error: errorMessage(error),
        });
      }
    }
  }

  private async beat(signal: AbortSignal): Promise<void> {
    const { clock, isOff = () => false, shown = () => undefined } = this.dependencies;
    const node = shown();
    if (isSilent(node) || isOff()) {
      this.wasSilent = true;
      return;
    }
    try {
      await this.renewLease(signal);
      // Late heartbeats, for example after the machine was suspended, made the node controller set its conditions to
      // Unknown.
      const isMisjudged = node !== undefined && !isAsReported(node, this.troubles());
      const isDue = clock.monotonicNow() - this.reportedAtMs >= this.options.statusReportMs;
      if (this.wasSilent || isMisjudged || isDue) await this.report(signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The node was deleted; a kubelet registers again as well.
      await this.register(signal);
    }
  }

  private troubles(): ReadonlySet<NodeTrouble> {
    return this.dependencies.troubles?.() ?? NO_TROUBLES;
  }

  /** Writes the status as it is now. */
  async report(signal: AbortSignal): Promise<void> {
    const { client, clock, events } = this.dependencies;
    const ref = { name: nodeName(this.index) };
    const node = await client.get<Node>(Node, ref, { signal });
    const state = { nowMs: clock.now(), troubles: this.troubles(), before: node };
    const status = nodeStatus(this.index, this.options, state);
    const given = Object.keys(amountsAnnotation(node, CAPACITY_ANNOTATION));
    const gone = Object.fromEntries(
      this.given.filter((name) => !(name in (status.capacity ?? {}))).map((name) => [name, null]),
    );
    const body = {
      status: {
        ...status,
        capacity: { ...status.capacity, ...gone },
        allocatable: { ...status.allocatable, ...gone },
      },
    };
    await client.patch(Node, ref, { type: 'merge', body }, { subresource: 'status', signal });
    this.given = given;
    for (const note of decideNodeEvents(node, status)) events.record(node, note);
    this.reportedAtMs = clock.monotonicNow();
    this.wasSilent = false;
  }

  private async renewLease(signal: AbortSignal): Promise<void> {
    const ref = { namespace: NODE_LEASE_NAMESPACE, name: nodeName(this.index) };
    const body = { spec: { renewTime: toRfc3339Micro(this.dependencies.clock.now()) } };
    try {
      await this.dependencies.client.patch(Lease, ref, { type: 'merge', body }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const node = await this.dependencies.client.get<Node>(Node, { name: ref.name }, { signal });
      await this.dependencies.client.create(Lease, newNodeLease(node, this.dependencies.clock.now()), {
        signal,
      });
    }
  }
}

/** The namespace of the nodes' Leases; a real cluster's control plane creates it. */
export async function ensureLeaseNamespace(client: ApiClient, signal: AbortSignal): Promise<void> {
  const namespace: Namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NODE_LEASE_NAMESPACE },
  };
  try {
    await client.get(Namespace, { name: NODE_LEASE_NAMESPACE }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    try {
      await client.create(Namespace, namespace, { signal });
    } catch (failure) {
      if (!isAlreadyExists(failure)) throw failure;
    }
  }
}
