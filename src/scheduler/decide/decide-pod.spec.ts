import { SeededRandom } from '@rollkeeper/machinery/clock';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../cache/scheduler-cache.js';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import type { SchedulerPlugin } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { SKIP, unresolvable, unschedulable } from '../framework/status.js';
import { compileProfile } from '../framework/compile-profile.js';
import { podInfoOf } from '../node/pod-info.js';
import { chooseNode, decidePod, findNodes } from './decide-pod.js';
import { nodesToFind } from './decide-pod.js';
import { viewOf } from './random-world.fixture.js';
import { podOf } from '../../testing/pod-builder.js';

const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } });
const aNode = (name: string): ReadableNode => object('Node', name);
const podNamed = (name = 'pod', parts: Partial<ReadablePod> = {}): ReadablePod => ({
  ...podOf({ metadata: { name, namespace: 'a', uid: name } }),
  ...parts,
});

const Sort: SchedulerPlugin = { name: 'Sort', less: () => false };
const profileOf = (...plugins: readonly SchedulerPlugin[]): Profile =>
  compileProfile({ plugins: [Sort, ...plugins].map((plugin) => ({ plugin, weight: 1 })) });

interface Case {
  readonly nodes?: readonly string[];
  readonly plugins?: readonly SchedulerPlugin[];
  readonly profile?: Profile;
  readonly pod?: ReadablePod;
  readonly startIndex?: number;
  readonly seed?: number;
  readonly prepare?: (cache: SchedulerCache) => void;
}

function inputOf({
  nodes = ['a', 'b'],
  plugins = [],
  pod = podNamed(),
  prepare,
  profile,
  seed = 1,
  startIndex = 0,
}: Case) {
  const cache = new SchedulerCache();
  for (const name of nodes) cache.setNode(aNode(name));
  prepare?.(cache);
  return {
    ...{ pod: podInfoOf(pod), view: viewOf({}), startIndex },
    snapshot: cache.snapshot(),
    nominated: cache.nominated,
    profile: profile ?? profileOf(...plugins),
    random: new SeededRandom(seed),
  };
}

const decide = (given: Case) => decidePod(inputOf(given));
const refusing = (
  name: string,
  nodes: readonly string[],
  status = unschedulable(`${name} says no`),
): SchedulerPlugin => ({
  name,
  filter: ({ name: node }) => (nodes.includes(node) ? status : undefined),
});

describe('a decision', () => {
  it('without any node says so, clears the nomination and asks no plug-in', () => {
    const Post: SchedulerPlugin = { name: 'Post', postFilter: () => expect.unreachable() };
    expect(decide({ nodes: [], plugins: [Post] })).toMatchObject({
      kind: 'refused',
      message: 'no nodes available to schedule pods',
      nomination: { node: undefined },
    });
  });

  it('counts of each node the first plug-in that refuses it, sorted as text', () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const decision = decide({
      nodes: names,
      plugins: [refusing('One', names.slice(0, 10)), refusing('Two', names)],
    });
    expect(decision).toMatchObject({ message: '0/12 nodes are available: 10 One says no, 2 Two says no.' });
    expect(decision.kind === 'refused' && [...decision.unschedulablePlugins].sort()).toEqual(['One', 'Two']);
  });

  it('asks the others after a resolvable refusal in PreFilter, and none after an unresolvable one', () => {
    const asked: string[] = [];
    const pre = (name: string, status: ReturnType<typeof unschedulable>): SchedulerPlugin => ({
      name,
      preFilter: () => (asked.push(name), { status }),
    });
    const decision = decide({
      plugins: [pre('A', unschedulable('a')), pre('B', SKIP), pre('C', unresolvable('c')), pre('D', SKIP)],
    });
    expect(asked).toEqual(['A', 'B', 'C']);
    expect(decision).toMatchObject({
      message: '0/2 nodes are available: c.',
      preFilterRefusal: { plugin: 'C' },
    });
  });

  it('leaves a plug-in that skips out of the filters', () => {
    const Skipping: SchedulerPlugin = {
      ...refusing('Skipping', ['a', 'b']),
      preFilter: () => ({ status: SKIP }),
    };
    expect(decide({ plugins: [Skipping] }).kind).toBe('chosen');
  });

  it('looks at named nodes alone, and says of the others who named them', () => {
    const Narrow: SchedulerPlugin = {
      name: 'Narrow',
      preFilter: () => ({ nodeNames: new Set(['b', 'gone']) }),
    };
    expect(decide({ plugins: [Narrow] })).toMatchObject({ kind: 'chosen', node: { name: 'b' } });
    expect(decide({ nodes: ['a', 'b', 'c'], plugins: [Narrow, refusing('F', ['b'])] })).toMatchObject({
      message: "0/3 nodes are available: 1 F says no, 2 node(s) didn't satisfy plugin(s) [Narrow].",
    });
  });

  it('refuses where two plug-ins name no common node', () => {
    const naming = (name: string, node: string): SchedulerPlugin => ({
      name,
      preFilter: () => ({ nodeNames: new Set([node]) }),
    });
    expect(decide({ plugins: [naming('A', 'a'), naming('B', 'b')] })).toMatchObject({
      message: "0/2 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously.",
    });
  });

  it('takes the nominated node if it fits, unscored, and any other if it does not', () => {
    const Score: SchedulerPlugin = { name: 'Score', score: ({ name }) => (name === 'a' ? 100 : 0) };
    const pod = podNamed('pod', { status: { nominatedNodeName: 'b' } });
    const onNominated = decide({ plugins: [Score], pod });
    expect(onNominated).toMatchObject({ kind: 'chosen', node: { name: 'b' } });
    expect(onNominated.kind === 'chosen' && onNominated.scores).toBeUndefined();
    expect(decide({ plugins: [Score, refusing('F', ['b'])], pod })).toMatchObject({ node: { name: 'a' } });
  });

  it.each([
    { priority: 10, isFree: false, who: 'as important' },
    { priority: 9, isFree: true, who: 'less important' },
  ])('leaves room for nominated pods only where they are as important: $who', ({ isFree, priority }) => {
    const OnePod: SchedulerPlugin = {
      name: 'OnePod',
      filter: ({ pods }) => (pods.length > 0 ? unschedulable('taken') : undefined),
    };
    const nominated = podNamed('nominated', { spec: { containers: [], priority } });
    const decision = decide({
      nodes: ['a'],
      plugins: [OnePod],
      pod: podNamed('pod', { spec: { containers: [], priority: 10 } }),
      prepare: (cache) => cache.nominate(podInfoOf(nominated), 'a'),
    });
    expect(decision.kind === 'chosen').toBe(isFree);
  });

  it('does not count on nominated pods that may never come', () => {
    const NeedsCompany: SchedulerPlugin = {
      name: 'NeedsCompany',
      filter: ({ pods }) => (pods.length === 0 ? unschedulable('lonely') : undefined),
    };
    const decision = decide({
      nodes: ['a'],
      plugins: [NeedsCompany],
      prepare: (cache) => cache.nominate(podInfoOf(podNamed('nominated')), 'a'),
    });
    expect(decision).toMatchObject({ kind: 'refused', message: '0/1 nodes are available: 1 lonely.' });
  });

  it('sums weighted scores and takes the highest', () => {
    const scoring = (name: string, a: number, b: number): SchedulerPlugin => ({
      name,
      score: ({ name: node }) => (node === 'a' ? a : b),
    });
    const plugins = [
      { plugin: Sort, weight: 0 },
      { plugin: scoring('One', 10, 0), weight: 2 },
      { plugin: scoring('Two', 0, 30), weight: 1 },
    ];
    const decision = decide({ profile: compileProfile({ plugins }) });
    expect(decision).toMatchObject({
      node: { name: 'b' },
      scores: {
        byPlugin: [
          { plugin: 'One', scores: [20, 0] },
          { plugin: 'Two', scores: [0, 30] },
        ],
        totals: [20, 30],
      },
    });
  });

  it('takes each of equally good nodes about as often', () => {
    const nodes = ['a', 'b', 'c', 'd'];
    const counts = new Map(nodes.map((name) => [name, 0]));
    for (let seed = 0; seed < 800; seed++) {
      const decision = decide({ nodes, seed });
      if (decision.kind === 'chosen') counts.set(decision.node.name, counts.get(decision.node.name)! + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(140);
  });

  it.each<[string, SchedulerPlugin]>([
    [
      'throws',
      {
        name: 'Bad',
        filter: () => {
          throw new Error('broken');
        },
      },
    ],
    ['answers with an error', { name: 'Bad', filter: () => ({ code: 'Error', reasons: ['broken'] }) }],
    ['cannot score', { name: 'Bad', preScore: () => ({ status: { code: 'Error', reasons: ['broken'] } }) }],
  ])('fails with the name of a plug-in that %s', (_what, plugin) => {
    expect(decide({ plugins: [plugin] })).toEqual({ kind: 'failed', plugin: 'Bad', message: 'broken' });
  });

  it('fails where a score is out of range', () => {
    const Bad: SchedulerPlugin = { name: 'Bad', score: () => 101 };
    expect(decide({ plugins: [Bad] })).toMatchObject({ kind: 'failed', plugin: 'Bad' });
  });

  it('asks PostFilter plug-ins until one finds a way', () => {
    const post = (
      name: string,
      result: ReturnType<NonNullable<SchedulerPlugin['postFilter']>>,
    ): SchedulerPlugin => ({
      name,
      postFilter: () => result,
    });
    const None = refusing('None', ['a', 'b']);
    const Failing = post('P', { status: unschedulable('p') });
    expect(
      decide({
        plugins: [None, Failing, post('Q', { status: unschedulable('q'), nomination: { node: undefined } })],
      }),
    ).toMatchObject({
      message: '0/2 nodes are available: 2 None says no. p, q',
      nomination: { node: undefined },
    });
    expect(decide({ plugins: [None, Failing, post('Q', { nomination: { node: 'a' } })] })).toMatchObject({
      message: '0/2 nodes are available: 2 None says no.',
      nomination: { node: 'a' },
    });
    expect(
      decide({ plugins: [None, post('P', { status: { code: 'Error', reasons: ['ended'] } }), Failing] }),
    ).toMatchObject({ message: '0/2 nodes are available: 2 None says no. ended' });
  });
});

describe('the search', () => {
  it.each([
    [99, 0, 99],
    [100, 0, 100],
    [1000, 0, 420],
    [6000, 0, 300],
    [10_000, 0, 500],
    [1000, 70, 700],
    [120, 10, 100],
  ])('looks, with %i nodes at %i percent, for %i', (all, percentage, enough) => {
    expect(nodesToFind(all, percentage)).toBe(enough);
  });

  it('begins where the last one ended, and stops when it has found enough', () => {
    const nodes = Array.from({ length: 200 }, (_, index) => `n${index}`);
    const decision = decide({ nodes, startIndex: 150 });
    expect(decision).toMatchObject({ kind: 'chosen', nextStartIndex: 50 });
    const found = decision.kind === 'chosen' ? decision.feasible.map(({ name }) => name) : [];
    expect([found.length, found[0], found[99]]).toEqual([100, 'n150', 'n49']);
  });
});

describe('extenders between the halves of a decision', () => {
  it('take nodes away and add to scores', () => {
    const found = findNodes(inputOf({ nodes: ['a', 'b', 'c'] }));
    if (found.kind !== 'found') expect.unreachable();
    const refusals = new Map([['c', unschedulable('not mine')]]);
    expect(chooseNode(found, { refusals, scores: new Map([['b', 5]]) })).toMatchObject({
      node: { name: 'b' },
      scores: { totals: [0, 5] },
    });
  });

  it('refuse the pod where they leave nothing', () => {
    const found = findNodes(inputOf({ plugins: [refusing('F', ['a'])] }));
    if (found.kind !== 'found') expect.unreachable();
    expect(chooseNode(found, { refusals: new Map([['b', unschedulable('not mine')]]) })).toMatchObject({
      kind: 'refused',
      message: '0/2 nodes are available: 1 F says no, 1 not mine.',
    });
  });
});

describe('a timer of extension points', () => {
  const pointsOf = (given: Case): string[] => {
    const noted: string[] = [];
    let ms = 0;
    const note = (point: string, status: string, tookMs: number): void =>
      void noted.push(`${point} ${status} ${tookMs}`);
    decidePod({ ...inputOf(given), timer: { now: () => ms++, note } });
    return noted;
  };

  it('is told of each point of an attempt, and what it came to', () => {
    expect(pointsOf({})).toEqual([
      'PreFilter Success 1',
      'Filter Success 1',
      'PreScore Success 1',
      'Score Success 1',
    ]);
    const no: SchedulerPlugin = { name: 'F', preFilter: () => ({ status: unresolvable('no') }) };
    expect(pointsOf({ plugins: [no] })).toEqual([
      'PreFilter UnschedulableAndUnresolvable 1',
      'PostFilter Success 1',
    ]);
  });

  it('is told of a point that failed', () => {
    const broken: SchedulerPlugin = {
      name: 'F',
      filter: () => {
        throw new Error('broken');
      },
    };
    expect(pointsOf({ plugins: [broken] })).toEqual(['PreFilter Success 1', 'Filter Error 1']);
  });
});

describe('a profile', () => {
  it('needs one plug-in that sorts the queue', () => {
    expect(() => compileProfile({ plugins: [] })).toThrow('plugins.queueSort: no plug-in sorts the queue');
    expect(() => profileOf({ ...Sort, name: 'Other' })).toThrow('more than one plug-in sorts the queue');
  });
});
