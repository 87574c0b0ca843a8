import type { KubernetesObject, Pod } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import { isReadyPod } from './store-replay.js';
import type { Violation } from './violation.js';

/** The longest time for which a cache may show pods that are not ready any more. */
const LAGS_MS = 30_000;

interface Route {
  readonly spec: {
    readonly rules?: readonly {
      readonly name?: string;
      readonly backendRefs?: readonly { readonly name: string; readonly weight?: number }[];
    }[];
  };
}

/** The requests that a route gives each of its two Services. */
interface Shares {
  readonly weights: readonly number[];
  /** Rules that give the second Service requests beside its weight. */
  readonly added: number;
}

/**
 * (h) Of routes that rollouts lead: the weights of the two Services are 100 together, and none of them gets more requests while no pod
 * that it selects was ready for as long as a cache may lag, unless the other has none either.
 */
export class TrafficChecker {
  checks = 0;
  private readonly shares = new Map<string, Shares>();
  private readonly selectors = new Map<string, Readonly<Record<string, string>>>();
  private readonly ready = new Map<string, Pod>();
  /** When a pod with these labels was ready last, by what its labels are. */
  private readonly left: { readonly labels: Readonly<Record<string, string>>; readonly atMs: number }[] = [];

  check(event: HistoryEvent): Violation[] {
    if (event.kind === 'Pod') this.notePod(event);
    if (event.kind === 'Service') this.noteService(event.object);
    return event.kind === 'HTTPRoute' && !event.deleted ? this.checkRoute(event) : [];
  }

  private notePod({ deleted, object, seenAtMs }: HistoryEvent): void {
    const pod = object as Pod;
    const { labels = {}, uid = '' } = pod.metadata;
    if (!deleted && isReadyPod(pod)) {
      this.ready.set(uid, pod);
      return;
    }
    if (this.ready.delete(uid)) this.left.push({ labels, atMs: seenAtMs });
    while ((this.left[0]?.atMs ?? Infinity) < seenAtMs - LAGS_MS) this.left.shift();
  }

  private noteService({ metadata, ...rest }: KubernetesObject): void {
    const { spec } = rest as { spec?: { selector?: Record<string, string> } };
    this.selectors.set(metadata.name, spec?.selector ?? {});
  }

  private checkRoute({ object, resourceVersion, seenAtMs }: HistoryEvent): Violation[] {
    const { name } = object.metadata;
    const [rule, ...added] = (object as KubernetesObject & Route).spec.rules ?? [];
    const backends = rule?.backendRefs ?? [];
    const now = { weights: backends.map(({ weight = 1 }) => weight), added: added.length };
    const before = this.shares.get(name);
    this.shares.set(name, now);
    if (JSON.stringify(before) === JSON.stringify(now)) return [];
    this.checks += 1;
    const problems: string[] = [];
    const sum = now.weights.reduce((total, weight) => total + weight, 0);
    if (sum !== 100) problems.push(`the weights are ${now.weights.join(' and ')}`);
    const serving = backends.map((backend) => this.servedLately(backend.name, seenAtMs));
    for (const [index, { name: service }] of backends.entries()) {
      const more = (now.weights[index] ?? 0) > (before?.weights[index] ?? 0);
      const isLed = index === 1 && now.added > (before?.added ?? 0);
      if (before && (more || isLed) && !serving[index] && serving.some(Boolean))
        problems.push(`${service} gets more requests (${now.weights.join('/')}), and has no pod`);
    }
    return problems.map((problem) => ({
      check: 'traffic',
      subject: name,
      problem: `${problem} (revision ${resourceVersion})`,
    }));
  }

  private servedLately(service: string, atMs: number): boolean {
    const selector = Object.entries(this.selectors.get(service) ?? { none: 'none' });
    const matches = (labels: Readonly<Record<string, string>> = {}): boolean =>
      selector.every(([label, value]) => labels[label] === value);
    return (
      [...this.ready.values()].some(({ metadata }) => matches(metadata.labels)) ||
      this.left.some(({ atMs: leftAtMs, labels }) => matches(labels) && leftAtMs >= atMs - LAGS_MS)
    );
  }
}
