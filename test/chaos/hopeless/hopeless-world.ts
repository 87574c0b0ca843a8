import { isAlreadyExists } from '../../../src/client/api-client/index.js';
import { ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { GivenAnswer } from '../../../src/testing/faults/given-answer.js';
import type { ChaosSet } from '../set/chaos-set.js';
import type { SeenWrite, WholeRequest } from '../set/replica-answers.js';
import type { Hopeless, HopelessKind } from './hopeless-kinds.js';
import { HOPELESS_KINDS, hopelessIdIn } from './hopeless-kinds.js';

interface Call {
  readonly id: string;
  readonly atMs: number;
}

/** Calls to the API about one Deployment with all its objects and Events, by the controllers, per minute. */
export interface CallRate {
  readonly kind: HopelessKind;
  readonly keys: number;
  readonly mean: number;
  readonly most: number;
}

const PODS_PATH = /\/pods(\?|$)/;
const REPLICA_SETS_PATH = /\/replicasets(\?|$)/;

/**
 * The world in which hopeless Deployments fail: a quota and a taker of names, put between the replicas and the API
 * server; and the count of what the replicas ask for because of each Deployment (watches are not counted).
 */
export class HopelessWorld {
  private readonly calls: Call[] = [];
  private readonly squatters = new Set<string>();

  constructor(private readonly set: ChaosSet) {}

  install(): void {
    for (const { apiAnswers } of this.set.replicas) {
      apiAnswers.onRequest = (request) => this.see(request);
      apiAnswers.onWrite = (write) => this.takeName(write);
    }
  }

  /** How many calls there were because of this one so far. */
  callsOf(id: string): number {
    return this.calls.filter((call) => call.id === id).length;
  }

  /** @param fromMs, untilMs of `performance.now()` */
  rates(hopeless: readonly Hopeless[], fromMs: number, untilMs: number): CallRate[] {
    const minutes = (untilMs - fromMs) / 60_000;
    const seen = this.calls.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
    return HOPELESS_KINDS.map((kind) => {
      const ofKind = hopeless.filter((one) => one.kind === kind);
      const counts = ofKind.map(({ id }) => seen.filter((call) => call.id === id).length);
      const sum = counts.reduce((all, count) => all + count, 0);
      return {
        kind,
        keys: ofKind.length,
        mean: sum / Math.max(ofKind.length, 1) / minutes,
        most: Math.max(0, ...counts) / minutes,
      };
    });
  }

  /** Takes back the ReplicaSets that were only there for their names. */
  async removeSquatters(): Promise<void> {
    const names = [...this.squatters];
    this.squatters.clear();
    for (const name of names) await this.set.client.delete(ReplicaSet, { namespace: 'default', name });
  }

  private see({ body, method, path }: WholeRequest): GivenAnswer | undefined {
    const id = hopelessIdIn(path) ?? hopelessIdIn(body.toString());
    if (id === undefined) return undefined;
    this.calls.push({ id, atMs: performance.now() });
    if (method !== 'POST' || !PODS_PATH.test(path) || !id.startsWith('hopeless-quota-')) return undefined;
    const name = nameIn(body);
    const message = `pods "${name}" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`;
    return { kind: 'status', code: 403, reason: 'Forbidden', message };
  }

  private async takeName({ body, method, path, when }: SeenWrite): Promise<void> {
    if (when !== 'before' || method !== 'POST' || !REPLICA_SETS_PATH.test(path)) return;
    const name = nameIn(body);
    if (!name.startsWith('hopeless-collision-')) return;
    await this.set.client.create(ReplicaSet, squatter(name)).catch((error: unknown) => {
      // A creation that is retried because its answer was lost finds the name taken as well.
      if (!isAlreadyExists(error)) throw error;
    });
    this.squatters.add(name);
  }
}

/** A ReplicaSet that no Deployment adopts, and that makes no pods. */
function squatter(name: string): ReplicaSet {
  const labels = { squats: 'true' };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default', labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'none', image: 'none:1' }] } },
    },
  };
}

function nameIn(body: Buffer): string {
  const { metadata } = JSON.parse(body.toString()) as { metadata?: { name?: string } };
  return metadata?.name ?? '';
}
