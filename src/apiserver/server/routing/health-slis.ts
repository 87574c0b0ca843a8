import type { Probe } from './health-checks.js';

interface Observed {
  readonly name: string;
  readonly type: Probe;
  isHealthy: boolean;
  readonly counts: { success: number; error: number };
}

/** The results of the probes' checks, each time that one was asked: `/metrics/slis` of Kubernetes' components. */
export class HealthSlis {
  private readonly observed = new Map<string, Observed>();

  observe(type: Probe, name: string, isHealthy: boolean): void {
    const key = `${name} ${type}`;
    const known = this.observed.get(key) ?? { name, type, isHealthy, counts: { success: 0, error: 0 } };
    this.observed.set(key, known);
    known.isHealthy = isHealthy;
    known.counts[isHealthy ? 'success' : 'error']++;
  }

  reset(): void {
    this.observed.clear();
  }

  /** Prometheus' text. */
  serialize(): string {
    const all = [...this.observed.values()].sort(
      (a, b) => compare(a.name, b.name) || compare(a.type, b.type),
    );
    const results = all.map(
      ({ isHealthy, name, type }) =>
        `kubernetes_healthcheck{name="${name}",type="${type}"} ${isHealthy ? 1 : 0}\n`,
    );
    const totals = all.flatMap(({ counts, name, type }) =>
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .sort(([a], [b]) => compare(a, b))
        .map(
          ([status, count]) =>
            `kubernetes_healthchecks_total{name="${name}",status="${status}",type="${type}"} ${count}\n`,
        ),
    );
    return [
      ...headed('kubernetes_healthcheck', 'gauge', 'records the result of a single healthcheck', results),
      ...headed('kubernetes_healthchecks_total', 'counter', 'records the results of all healthcheck', totals),
    ].join('');
  }
}

function headed(name: string, type: string, what: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [`# HELP ${name} [STABLE] This metric ${what}.\n# TYPE ${name} ${type}\n`, ...lines];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
