import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../diagnose/index.js';
import type { KnownProblems } from './decide-problem-changes.js';
import { countProblems, decideProblemChanges, knownBefore, standing } from './decide-problem-changes.js';
import type { RecordedEvent } from './problem-events.js';
import {
  PROBLEM_COMPONENT,
  PROBLEM_SOLVED,
  appearedNote,
  goneNote,
  objectOf,
  reasonOf,
  reportedProblems,
} from './problem-events.js';
import { problemsIn } from './watched-problem.js';

const NOW_MS = Date.UTC(2026, 0, 1);

function diagnosis(name: string, cause = 'claim-lost', more: Partial<Diagnosis> = {}): Diagnosis {
  return {
    ...{ kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'shop', name, uid: `uid-${name}` },
    ...{ state: 'blocked', cause: cause as Diagnosis['cause'], sentence: '', unblockedBy: [], notes: [] },
    waitsFor: [
      {
        cause: cause as Diagnosis['cause'],
        severity: 'blocked',
        summary: 'its volume is lost',
        unblockedBy: ['another volume', 'or another claim'],
      },
      { cause: 'starting', severity: 'waits', summary: 'it starts', unblockedBy: [] },
    ],
    ...more,
  };
}

/** The looks, one after the other, ten seconds apart. */
function looks(...found: readonly (readonly Diagnosis[])[]) {
  let known: KnownProblems = new Map();
  return found.map((each, index) => {
    const changes = decideProblemChanges(known, problemsIn(each, NOW_MS + index * 10_000));
    known = changes.known;
    const names = (problems: readonly { name: string }[]) => problems.map(({ name }) => name);
    return {
      ...{ known, appeared: names(changes.appeared), gone: names(changes.gone) },
      stand: names(standing(known)),
    };
  });
}

const broken = diagnosis('a');

describe('a problem', () => {
  it('appears once, when two looks in a row have seen it', () => {
    const all = looks([broken], [broken], [broken]);
    expect(all.map(({ appeared }) => appeared)).toEqual([[], ['a'], []]);
    expect(all.map(({ stand }) => stand)).toEqual([[], ['a'], ['a']]);
  });

  it('is none if it passes by itself between two looks', () => {
    const all = looks([broken], [], [broken], []);
    expect(all.flatMap(({ appeared, gone }) => [...appeared, ...gone])).toEqual([]);
  });

  it('is gone once, when two looks in a row have not seen it, and stands until then', () => {
    const all = looks([broken], [broken], [], [broken], [], [], []);
    expect(all.map(({ gone }) => gone.length)).toEqual([0, 0, 0, 0, 0, 1, 0]);
    expect(all.map(({ stand }) => stand.length)).toEqual([0, 1, 1, 1, 1, 0, 0]);
  });

  it('appears once more if it comes back', () => {
    const all = looks([broken], [broken], [], [], [broken], [broken]);
    expect(all.map(({ appeared }) => appeared.length)).toEqual([0, 1, 0, 0, 0, 1]);
  });

  it('is another one if it is of another cause, or of an object that was made again', () => {
    const other = diagnosis('a', 'claim-pending');
    const again = diagnosis('a', 'claim-lost', { uid: 'another' });
    const all = looks([broken], [broken], [other], [other], [again], [again]);
    expect(all.map(({ appeared }) => appeared.length)).toEqual([0, 1, 0, 1, 0, 1]);
    expect(all.map(({ gone }) => gone.length)).toEqual([0, 0, 0, 1, 0, 1]);
  });

  it('is each blocking cause of an object, and nothing that only waits', () => {
    const [first] = broken.waitsFor;
    const twice = diagnosis('a', 'claim-lost', {
      waitsFor: [first!, { ...first!, cause: 'quota' }, { ...first!, summary: 'said twice' }],
    });
    expect(problemsIn([twice], NOW_MS).map(({ cause }) => cause)).toEqual(['claim-lost', 'quota']);
    expect(problemsIn([twice], NOW_MS)[0]?.summary).toBe('its volume is lost');
    expect(problemsIn([diagnosis('b', 'x', { waitsFor: broken.waitsFor.slice(1) })], NOW_MS)).toEqual([]);
  });

  it('appears not again if an earlier leader has reported it, and its end is reported', () => {
    const known = knownBefore(problemsIn([broken], NOW_MS));
    const seen = decideProblemChanges(known, problemsIn([broken], NOW_MS));
    expect(seen.appeared).toEqual([]);
    const once = decideProblemChanges(seen.known, []);
    expect(once.gone).toEqual([]);
    expect(decideProblemChanges(once.known, []).gone).toHaveLength(1);
  });
});

describe('the metrics of problems', () => {
  it('are counts by kind and cause, without names, and the age of the oldest', () => {
    const since = { ...broken.waitsFor[0]!, since: '2025-12-31T23:00:00Z' };
    const found = [
      diagnosis('a'),
      diagnosis('b', 'claim-lost', { waitsFor: [since] }),
      diagnosis('c', 'quota'),
    ];
    const [, second] = looks(found, found);
    expect(countProblems(second!.known, NOW_MS + 10_000)).toEqual([
      { kind: 'PersistentVolumeClaim', cause: 'claim-lost', count: 2, oldestSeconds: 3610 },
      { kind: 'PersistentVolumeClaim', cause: 'quota', count: 1, oldestSeconds: 10 },
    ]);
  });

  it('leave out what does not stand yet', () => {
    const [first] = looks([broken]);
    expect(countProblems(first!.known, NOW_MS)).toEqual([]);
  });
});

describe('the Events of problems', () => {
  const [problem] = problemsIn([broken], NOW_MS);

  it('have the cause as reason, and say what is wrong and what helps', () => {
    expect(appearedNote(problem!)).toEqual({
      ...{ type: 'Warning', reason: 'ClaimLost', action: 'claim-lost' },
      message: 'its volume is lost. What helps: another volume',
    });
    expect(goneNote(problem!)).toMatchObject({
      ...{ type: 'Normal', reason: PROBLEM_SOLVED, message: 'ClaimLost is over: its volume is lost' },
    });
    expect(reasonOf('pdb-never-allows')).toBe('PdbNeverAllows');
  });

  const CONSOLE = 'https://rollkeeper.example.com';

  it('end with a link to the console, where its address is known', () => {
    const link = `${CONSOLE}/console?object=persistentvolumeclaims%2Fshop%2Fa`;
    expect(appearedNote(problem!, CONSOLE)).toEqual({
      ...appearedNote(problem!),
      message: `its volume is lost. What helps: another volume. In the console: ${link}`,
    });
    expect(goneNote(problem!, CONSOLE).message).toBe(
      `ClaimLost is over: its volume is lost. In the console: ${link}`,
    );
    const linkOf = (more: Partial<typeof problem>) =>
      appearedNote({ ...problem!, ...more }, CONSOLE).message.split('In the console: ')[1];
    expect(linkOf({ kind: 'Deployment', apiVersion: 'apps/v1' })).toBe(
      `${CONSOLE}/console?deployment=shop%2Fa`,
    );
    expect(linkOf({ kind: 'Deployment', apiVersion: 'rollkeeper.dev/v1' })).toBe(
      `${CONSOLE}/console?deployment=shop%2Fa%3Fapi%3Drollkeeper.dev%2Fv1`,
    );
    const { namespace: _none, ...ofCluster } = problem!;
    expect(
      appearedNote({ ...ofCluster, kind: 'Node', apiVersion: 'v1', name: 'node-1' }, CONSOLE).message,
    ).toContain(`${CONSOLE}/console?object=nodes%2Fnode-1`);
    expect(linkOf({ kind: 'ResourceQuota' })).toBe(`${CONSOLE}/console?problem=shop%2Fa#problems`);
  });

  it('keep the link whole where the words are long, and leave out one that is too long itself', () => {
    const long = { ...problem!, summary: 'ä'.repeat(10) + 'x'.repeat(2000) };
    for (const note of [appearedNote(long, CONSOLE), goneNote(long, CONSOLE)]) {
      expect(Buffer.byteLength(note.message)).toBeLessThanOrEqual(1024);
      expect(note.message.endsWith('/console?object=persistentvolumeclaims%2Fshop%2Fa')).toBe(true);
    }
    const far = `https://${'a'.repeat(600)}.example.com`;
    expect(appearedNote(problem!, far)).toEqual(appearedNote(problem!));
  });

  it('are no longer than the API takes', () => {
    const long = { ...problem!, summary: 'x'.repeat(2000) };
    for (const note of [appearedNote(long), goneNote(long)])
      expect(Buffer.byteLength(note.message)).toBeLessThanOrEqual(1024);
  });

  it('are about the object, and about nothing where there is none', () => {
    expect(objectOf(problem!)).toEqual({
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: { name: 'a', namespace: 'shop', uid: 'uid-a' },
    });
    const { apiVersion: _none, ...registry } = problem!;
    expect(objectOf(registry)).toBeUndefined();
  });

  it('are what the next leader knows: those that were reported, and not as gone', () => {
    const event = (
      type: 'Warning' | 'Normal',
      name: string,
      second: number,
      consoleUrl?: string,
    ): RecordedEvent => {
      const [each] = problemsIn([diagnosis(name)], NOW_MS);
      const { message, ...note } =
        type === 'Warning' ? appearedNote(each!, consoleUrl) : goneNote(each!, consoleUrl);
      return {
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.${second}`, namespace: 'shop' } },
        ...{ ...note, message, reportingComponent: PROBLEM_COMPONENT },
        lastTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
        involvedObject: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: 'shop',
          name,
          uid: `uid-${name}`,
        },
      };
    };
    const events = [
      ...[event('Normal', 'a', 9), event('Warning', 'a', 5)],
      // With a link or without: it is the same problem.
      ...[event('Warning', 'b', 7, CONSOLE), event('Normal', 'b', 3)],
      { ...event('Warning', 'c', 1), reportingComponent: 'kubelet' },
    ];
    const [open, ...more] = reportedProblems(events);
    expect(more).toEqual([]);
    expect(open).toMatchObject({ name: 'b', cause: 'claim-lost', summary: 'its volume is lost' });
    expect(open?.id).toBe(problemsIn([diagnosis('b')], NOW_MS)[0]?.id);
    expect(open?.sinceMs).toBe(NOW_MS + 7000);
  });
});
