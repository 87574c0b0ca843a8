import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringifyJson } from '../../src/machinery/kubernetes/index.js';
import type { Diagnosis, DiagnosisFinding } from '../../src/rollkeeper/diagnose/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import type { Finished } from '../e2e/support/up.js';
import { Up, rollkeeper } from '../e2e/support/up.js';
import type { Situation } from './support/situations.js';
import { SITUATIONS } from './support/situations.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'SITUATIONS.md');

describe.skipIf(!anyKubectl())('what an operator meets', () => {
  let up: Up;
  let adminUrl: string;

  beforeAll(async () => {
    up = await Up.start({ args: ['--nodes', '3'] });
    adminUrl = (await up.leader()).adminUrl;
  });
  afterAll(() => up?.stopAndRemove());

  const kubectl = (args: readonly string[], input?: string): Promise<Finished> =>
    up.kubectl(anyKubectl()?.binary ?? '', args, input);

  const create = async ({ kubectl: commands = [], namespace, objects = [] }: Situation): Promise<void> => {
    await kubectl(['create', 'namespace', namespace]);
    for (const object of objects)
      expect(await kubectl(['create', '-n', namespace, '-f', '-'], stringifyJson(object))).toMatchObject({
        code: 0,
      });
    for (const command of commands) await kubectl([...command, '-n', namespace]);
  };

  const isTold = ({ cause, helps, says }: Situation, findings: readonly DiagnosisFinding[]): boolean =>
    findings.some(
      (finding) =>
        finding.cause === cause &&
        says.test([finding.summary, ...(finding.pods ?? []).map(({ message = '' }) => message)].join('\n')) &&
        finding.unblockedBy.some((way) => helps.test(way)),
    );

  const explained = async ({ namespace, object }: Situation): Promise<readonly DiagnosisFinding[]> => {
    const [kind = '', name = ''] = object.split('/');
    const isOfCluster = /^(node|namespace|apiservice|validatingwebhookconfiguration)$/.test(kind);
    const target = isOfCluster ? [object] : [kind, `${namespace}/${name}`];
    const told = await rollkeeper('explain', ...target, '--json', '--kubeconfig', up.kubeconfig);
    return (JSON.parse(told.stdout) as Pick<Diagnosis, 'waitsFor'>).waitsFor ?? [];
  };

  const listed = async ({ namespace, object }: Situation): Promise<readonly DiagnosisFinding[]> => {
    const [, name] = object.split('/');
    const answer = await fetch(`${adminUrl}/admin/problems`);
    const { problems } = (await answer.json()) as { readonly problems: readonly Diagnosis[] };
    return problems
      .filter((problem) => problem.name === name && (problem.namespace ?? namespace) === namespace)
      .flatMap(({ waitsFor }) => waitsFor);
  };

  it.each(SITUATIONS.map((situation) => [situation.what, situation] as const))('%s', async (_, situation) => {
    await create(situation);
    await waitFor(async () => isTold(situation, await explained(situation)), {
      intervalMs: 300,
      what: `explain ${situation.object} to name ${situation.cause}`,
    });
    await waitFor(async () => isTold(situation, await listed(situation)) === (situation.isProblem ?? true), {
      intervalMs: 300,
      what: `the problems to ${situation.isProblem === false ? 'leave out' : 'name'} it`,
    });
  });

  it('is in the documentation, each in a row', async () => {
    const text = await readFile(DOCUMENT, 'utf8');
    const rows = text.split('\n').map((line) => line.replaceAll(/ +\| +/g, ' | '));
    const missing = SITUATIONS.filter(
      ({ cause, what }) => !rows.some((row) => row.startsWith(`| ${what} | \`${cause}\` |`)),
    );
    expect(missing.map(({ what }) => what)).toEqual([]);
  });
});
