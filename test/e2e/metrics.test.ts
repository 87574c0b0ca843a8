import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { readCredentials } from '../../src/rollkeeper/replica/supervisor/credentials.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { lintExposition } from '../unit/support/exposition-lint.js';
import { parseExpression, usesOf } from '../unit/support/prometheus.js';
import { aDeployment } from './support/a-deployment.js';
import { SharedUp } from './support/shared-up.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');
/** Prometheus puts these on by itself. */
const OF_PROMETHEUS = new Set(['instance', 'job']);

interface Served {
  readonly type: string;
  readonly help: string;
  readonly labels: Set<string>;
}

function parseText(text: string, into: Map<string, Served>): void {
  expect(lintExposition(text)).toEqual([]);
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const helps = new Map(
    [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name = '', help = '']) => [name, help]),
  );
  for (const [name, type] of types) {
    const served = into.get(name) ?? { type, help: helps.get(name) ?? '', labels: new Set<string>() };
    into.set(name, served);
    for (const [, labels = ''] of text.matchAll(
      new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\}`, 'gm'),
    ))
      for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) served.labels.add(label);
  }
}

const namespace = 'measured';

describe('the metrics', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  const served = new Map<string, Served>();

  const rolledOut = (): Promise<unknown> =>
    waitFor(
      async () => {
        const ref = { namespace, name: 'web' };
        const { metadata, status } = await client.get<Deployment>(Deployment, ref);
        return status?.observedGeneration === metadata.generation && status?.availableReplicas === 5;
      },
      { what: 'the rollout' },
    );

  async function scrape(): Promise<void> {
    const { apiServer, replicas } = await up.status();
    for (const { adminUrl } of replicas) {
      const response = await fetch(`${adminUrl}/metrics`);
      expect(response.headers.get('content-type')).toContain('version=0.0.4');
      parseText(await response.text(), served);
    }
    const { caPem, token } = await readCredentials(up.dataDir);
    const dispatcher = new Agent({ connect: { ca: caPem } });
    const url = `${apiServer?.url}/metrics`;
    expect((await undiciFetch(url, { dispatcher })).status).toBe(403);
    const headers = { authorization: `Bearer ${token}` };
    parseText(await (await undiciFetch(url, { dispatcher, headers })).text(), served);
    await dispatcher.close();
  }

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
    await client.create(Deployment, aDeployment({ namespace, name: 'web', replicas: 5 }));
    await rolledOut();
    // A rollout is reported when the cache of the leader shows its end.
    await waitFor(
      async () => {
        await scrape();
        return ['rollkeeper_rollout_duration_seconds', 'rollkeeper_problem_look_seconds'].every((name) =>
          served.has(name),
        );
      },
      { intervalMs: 500, what: 'the rollout to be counted, and a look for problems' },
    );
  });

  afterAll(async () => {
    await client.close();
    await up.give();
  });

  /** Served only once there was one, or with an option: another rollout of the same set may have had it. */
  const optional = new Set(
    [...read('docs', 'METRICS.md').matchAll(/^- `(\w+)` \(/gm)].map(([, name]) => name),
  );

  it('are exactly those of docs/METRICS.md, with their types and labels', () => {
    const rows = [...read('docs', 'METRICS.md').matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) +\|/gm)];
    const documented = rows.map(([, name, type, labels = '']) => ({
      name,
      type,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
    }));
    const always = [...served].filter(([name]) => !optional.has(name));
    const actual = always.map(([name, { labels, type }]) => ({
      name,
      type,
      labels: [...labels].filter((label) => label !== 'le').sort(),
    }));
    const byName = (a: { name?: string }, b: { name?: string }): number =>
      (a.name ?? '').localeCompare(b.name ?? '');
    expect(actual.sort(byName)).toEqual(documented.sort(byName));
  });

  it('explain themselves, each', () => {
    for (const [name, { help }] of served) expect(`${name}: ${help}`).toMatch(/^\w+: \S{2,} /);
  });

  const find = (metric: string): Served | undefined =>
    served.get(metric) ?? served.get(metric.replace(/_(bucket|sum|count)$/, ''));

  function expectServed(expression: string): void {
    for (const { labels, matchers, metric } of usesOf(parseExpression(expression))) {
      const found = find(metric);
      if (!found && optional.has(metric)) continue;
      expect(found, `${metric} in ${expression}`).toBeDefined();
      for (const label of [...labels, ...matchers.map((matcher) => matcher.label)]) {
        const known = OF_PROMETHEUS.has(label) || found?.labels.has(label);
        expect(known, `label ${label} of ${metric}`).toBe(true);
      }
    }
  }

  it('are all that the alert rules ask for', () => {
    const { groups } = parse(read('helm', 'rollkeeper', 'alerts', 'rollkeeper.rules.yaml')) as {
      groups: { rules: { expr: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(10);
    for (const { expr } of rules) expectServed(expr);
  });

  it('are all that the dashboard asks for', () => {
    const { panels } = JSON.parse(read('helm', 'rollkeeper', 'dashboards', 'rollkeeper.json')) as {
      panels: { type: string; targets?: { expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(30);
    for (const expression of expressions) expectServed(expression);
  });
});
