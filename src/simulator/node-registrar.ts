import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isAlreadyExists, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339Micro } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Namespace, Node } from '@rollkeeper/machinery/kubernetes';
import { LEASES, NAMESPACES, NODES } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import {
  NODE_LEASE_NAMESPACE,
  isAsReported,
  isSilent,
  newNode,
  newNodeLease,
  nodeName,
  nodeStatus,
} from './node-object.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';

/** Maintains one node's objects: the Node, its status, and its Lease. */
export class NodeRegistrar {
  private reportedAtMs = 0;
  private wasSilent = false;

  constructor(
    private readonly index: number,
    private readonly client: ApiClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: CompiledNodeSimulatorOptions,
    /** The node as cached. */
    private readonly shown: () => DeepReadonly<Node> | undefined = () => undefined,
  ) {}

  /** Creates or adopts the Node, and reports it ready. */
  async register(signal: AbortSignal): Promise<void> {
    const node = newNode(this.index, this.options, this.clock.now());
    try {
      await this.client.create(NODES, node, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      this.wasSilent = isSilent(await this.client.get<Node>(NODES, { name: node.metadata.name }, { signal }));
      if (this.wasSilent) return;
    }
    await this.report(signal);
    await this.renewLease(signal);
  }

  /** Sends heartbeats until aborted, despite errors. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.clock.sleep(this.options.heartbeatMs, signal);
        await this.beat(signal);
      } catch (error) {
        if (isAborted(signal)) return;
        this.logger.warn('heartbeat failed', { node: nodeName(this.index), error: errorMessage(error) });
      }
    }
  }

  private async beat(signal: AbortSignal): Promise<void> {
    const node = this.shown();
    if (isSilent(node)) {
      this.wasSilent = true;
      return;
    }
    try {
      await this.renewLease(signal);
      // Late heartbeats, for example after the machine was suspended, made the node controller set its conditions to
      // Unknown.
      const isMisjudged = node !== undefined && !isAsReported(node);
      const isDue = this.clock.monotonicNow() - this.reportedAtMs >= this.options.statusReportMs;
      if (this.wasSilent || isMisjudged || isDue) await this.report(signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The node was deleted; a kubelet registers again as well.
      await this.register(signal);
    }
  }

  private async report(signal: AbortSignal): Promise<void> {
    const ref = { name: nodeName(this.index) };
    const node = await this.client.get<Node>(NODES, ref, { signal });
    const status = nodeStatus(this.index, this.options, this.clock.now(), node.status);
    await this.client.patch(
      NODES,
      ref,
      { type: 'merge', body: { status } },
      { subresource: 'status', signal },
    );
    this.reportedAtMs = this.clock.monotonicNow();
    this.wasSilent = false;
  }

  private async renewLease(signal: AbortSignal): Promise<void> {
    const ref = { namespace: NODE_LEASE_NAMESPACE, name: nodeName(this.index) };
    const body = { spec: { renewTime: toRfc3339Micro(this.clock.now()) } };
    try {
      await this.client.patch(LEASES, ref, { type: 'merge', body }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const node = await this.client.get<Node>(NODES, { name: ref.name }, { signal });
      await this.client.create(LEASES, newNodeLease(node, this.clock.now()), { signal });
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
    await client.get(NAMESPACES, { name: NODE_LEASE_NAMESPACE }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    try {
      await client.create(NAMESPACES, namespace, { signal });
    } catch (failure) {
      if (!isAlreadyExists(failure)) throw failure;
    }
  }
}
