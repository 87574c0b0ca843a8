import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { formats } from './formats.js';
import { runConformance } from './run-conformance.js';

const DOCS = 'docs/CONTROLLERS.md';

/** Rows of the list there: `| controller | rule: what differs | why | recorded cases |`. */
const ROW =
  /^\| `(?:deployment|replicaset)` +\| `(\w+)`:[^|]*\|[^|]*\| ((?:`[a-z]+\d+-[\w-]+`(?:, )?)+) *\|$/gm;

/** The states by rule, as listed. */
async function listed(): Promise<Record<string, string[]>> {
  const text = await readFile(DOCS, 'utf8');
  const rows = [...text.matchAll(ROW)].map(([, rule = '', states = '']) => [
    rule,
    states.split(', ').map((state) => state.trim().replaceAll('`', '')),
  ]);
  return Object.fromEntries(rows) as Record<string, string[]>;
}

async function compare(file: string) {
  const byRule: Record<string, string[]> = {};
  const failures: string[] = [];
  const totals = await runConformance(file, formats, ({ differences, id, rules }) => {
    for (const rule of rules) (byRule[rule] ??= []).push(id);
    if (rules.length === 0) failures.push(`${id}\n  ${differences.join('\n  ')}`);
  });
  return { byRule, failures, totals };
}

describe('held against recordings of Kubernetes 1.36.2', () => {
  it('the controllers differ where docs/CONTROLLERS.md says so, for the reason given there, and nowhere else', async () => {
    const deployments = await compare('test/vectors/deployment-sync-1.36.jsonl.gz');
    const replicaSets = await compare('test/vectors/replicaset-sync-1.36.jsonl.gz');
    expect([...deployments.failures, ...replicaSets.failures].slice(0, 8).join('\n')).toBe('');
    expect({ ...deployments.byRule, ...replicaSets.byRule }).toEqual(await listed());
    expect(deployments.totals).toEqual({ passed: 852, failed: 0, deliberate: 37, sections: [] });
    expect(replicaSets.totals).toEqual({ passed: 503, failed: 0, deliberate: 12, sections: [] });
  }, 60_000);
});
