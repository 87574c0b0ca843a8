import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { EventObject } from '../../src/client/events/event-object.js';
import { untyped, Event, stringifyJson } from '../../src/machinery/kubernetes/index.js';
import type { Diagnosis, DiagnosisFinding } from '../../src/rollkeeper/insight/diagnose/index.js';
import { PROBLEM_COMPONENT, reasonOf } from '../../src/rollkeeper/insight/problems/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import type { Finished } from '../e2e/support/up.js';
import { Up, rollkeeper } from '../e2e/support/up.js';
import type { Situation } from './support/situations.js';
import { SITUATIONS } from './support/situations.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'SITUATIONS.md');

describe.skipIf(!anyKubectl())('the situations of an operator', () => {
  let up: Up;
  let adminUrl: string;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await Up.start({ args: ['--nodes', '3', '--', '--problems-interval-ms', '1000'] });
    adminUrl = (await up.leader()).adminUrl;
    client = await up.client();
  });
  afterAll(async () => {
    await client?.close();
    await up?.stopAndRemove();
  });

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
    const isOfCluster =
      /^(node|namespace|apiservice|validatingwebhookconfiguration|customresourcedefinition)$/.test(kind);
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

  /** The reasons of the Warnings about the object that the leader has written. */
  const warned = async ({ namespace, object }: Situation): Promise<readonly string[]> => {
    const [, name] = object.split('/');
    const { items } = await client.list<EventObject>(untyped(Event), {
      fieldSelector: `reportingComponent=${PROBLEM_COMPONENT},involvedObject.name=${name}`,
    });
    return items
      .filter(({ involvedObject }) => (involvedObject.namespace ?? namespace) === namespace)
      .filter(({ type }) => type === 'Warning')
      .map(({ reason }) => reason);
  };

  const isCounted = async ({ cause }: Situation): Promise<boolean> => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    return new RegExp(`^rollkeeper_problems\\{kind="\\w+",cause="${cause}"\\} [1-9]`, 'm').test(metrics);
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
    if (situation.isProblem === false) return;
    await waitFor(async () => (await warned(situation)).includes(reasonOf(situation.cause)), {
      intervalMs: 300,
      what: `an Event about ${situation.object}`,
    });
    await waitFor(() => isCounted(situation), { intervalMs: 300, what: `${situation.cause} to be counted` });
  });

  it('is no Event where it was asked for', async () => {
    const asked = SITUATIONS.filter(({ isProblem }) => isProblem === false);
    for (const situation of asked) expect(await warned(situation)).not.toContain(reasonOf(situation.cause));
  });

  it('is reported once: no Warning is written again while its problem stands', async () => {
    const { items } = await client.list<EventObject>(untyped(Event), {
      fieldSelector: `reportingComponent=${PROBLEM_COMPONENT}`,
    });
    const texts = items.map(({ involvedObject, reason }) => `${reason} ${involvedObject.uid}`);
    expect(new Set(texts).size).toBe(texts.length);
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
