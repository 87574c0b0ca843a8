import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { compileApiServerProcessOptions } from '../../src/apiserver/server/api-server-process.options.js';
import { compileTable } from '../../src/machinery/options/compile-table.js';
import type { TableOption } from '../../src/machinery/options/option-table.js';
import { describeDefault } from '../../src/machinery/options/option-table.js';
import { APISERVER_OPTIONS_TABLE } from '../../src/rollkeeper/cli/apiserver-options.table.js';
import { NODE_OPTIONS_TABLE } from '../../src/rollkeeper/cli/node-options.table.js';
import { createProgram } from '../../src/rollkeeper/cli/program.js';
import { REPLICA_OPTIONS_TABLE } from '../../src/rollkeeper/replica/replica-options.table.js';
import { compileReplicaOptions } from '../../src/rollkeeper/replica/replica.options.js';
import { compileNodeSimulatorOptions } from '../../src/simulator/node-simulator.options.js';
import type { JsonSchema } from '../support/option-documents.js';
import { TABLES, optionTables, withOptionLimits } from '../support/option-documents.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');
const GENERATE = 'else run scripts/generate-option-docs.mjs';

/** The cells of the tables in a text, without the spaces around them. */
function cells(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| -/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

describe('each option has one home, its table', () => {
  it(`docs/OPTIONS.md says the same (${GENERATE})`, () => {
    expect(cells(read('docs', 'OPTIONS.md'))).toEqual(cells(optionTables()));
  });

  it.each(Object.entries(TABLES))(
    'the help of %s has its flags and defaults, and no others',
    (name, table) => {
      const command = createProgram('main.js').commands.find((each) => each.name() === name);
      const flags = command?.options ?? [];
      expect(flags.map(({ long }) => long?.slice(2)).toSorted()).toEqual(Object.keys(table).toSorted());
      for (const { description, long } of flags) {
        const shown = describeDefault(table[long?.slice(2) ?? ''] ?? { kind: 'text', help: '' });
        if (shown === undefined) expect(description, long).not.toContain('(default');
        else expect(description, long).toContain(`(default: ${shown})`);
      }
    },
  );

  const options = Object.entries<TableOption>(REPLICA_OPTIONS_TABLE);
  const ofChart = options.flatMap(([name, option]) =>
    option.chart ? [{ name, option, path: option.chart.path, own: option.chart.default }] : [],
  );

  it(`values.schema.json has the limits that the program has (${GENERATE})`, () => {
    const schema = JSON.parse(read('helm', 'rollkeeper', 'values.schema.json')) as JsonSchema;
    expect(schema).toEqual(withOptionLimits(schema));
  });

  it.each(ofChart)('values.yaml has the default of $path that the table says', ({ option, own, path }) => {
    const values: unknown = parse(read('helm', 'rollkeeper', 'values.yaml'));
    const value = path
      .split('.')
      .reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], values);
    expect(value).toEqual(own ?? option.default);
  });
});

describe('the defaults that the help shows are those in force', () => {
  const compiled = compileReplicaOptions({ 'redis-url': 'redis://redis', identity: 'replica-1' });
  const shownOf = (name: keyof typeof REPLICA_OPTIONS_TABLE) => describeDefault(REPLICA_OPTIONS_TABLE[name]);

  it.each([
    'leader-takeover',
    'leader-elect-resource-lock',
    'leader-elect-resource-name',
    'reconcile-on',
  ] as const)('for %s, which depends on other options', (name) => {
    expect(shownOf(name)).toBe(compiled[name]);
  });

  it('for the timeouts of syncs, which depend on the controller', () => {
    const of = (name: string) => String(compiled.syncTimeoutMsOf.get(name));
    expect(shownOf('sync-timeout-ms')).toBe(`${of('deployment')}, namespace ${of('namespace')}`);
  });

  it('for the API server, also where it runs without the command line', () => {
    const {
      'redis-url': _url,
      'disable-admission-plugins': _plugins,
      'feature-gates': gates,
      ...library
    } = compileApiServerProcessOptions({ redisUrl: 'redis://redis' });
    const {
      'disable-admission-plugins': _none,
      'feature-gates': noGates,
      // Is an option of the product alone, which gives the library a check.
      'invalid-policies': _policies,
      ...program
    } = compileTable(APISERVER_OPTIONS_TABLE, {});
    expect(program).toEqual(library);
    expect([noGates, [...gates]]).toEqual(['', []]);
  });

  it('for the simulated nodes, also where they run without the command line', () => {
    const program = compileTable(NODE_OPTIONS_TABLE, {});
    expect(compileNodeSimulatorOptions({})).toMatchObject({
      nodes: program.nodes,
      readyDelayMs: program['ready-delay-ms'],
      terminationDelayMs: program['termination-delay-ms'],
      concurrency: program.concurrency,
      podsPerNode: program['pods-per-node'],
    });
  });
});
