import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../../machinery/clock/index.js';
import type { ResponderState, UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { Eviction, EvictionRequest } from '../../../machinery/kubernetes/index.js';
import { EVICTION_REQUEST_GATE } from '../../../machinery/options/feature-gates.js';
import { createKindRegistry, kindsWith, schemasWith } from '../index.js';
import type { KindDefinition } from '../kind-definition.js';
import { createSchemaRegistry } from '../../schema/index.js';

const GATES = new Set([EVICTION_REQUEST_GATE]);
const kinds = createKindRegistry(kindsWith(GATES));
const NOW_MS = Date.UTC(2026, 10, 1);
const MINUTE_MS = 60_000;
const at = (agoMs = 0): string => toRfc3339(NOW_MS - agoMs);
const UID = '0f7c1e2a-0000-4000-8000-00000000000a';
const TARGET = { pod: { name: 'web-1', uid: UID } };

function kindOf(kind: typeof Eviction | typeof EvictionRequest): KindDefinition {
  return kinds.find(kind.group, kind.version, kind.resource)!;
}

function request(spec: object): UnstructuredObject {
  return {
    ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest' },
    metadata: { name: 'r', namespace: 'a' },
    spec: { target: TARGET, requester: 'example.com/drainer', intent: 'Eviction', ...spec },
  };
}

const texts = (errors: readonly { readonly field: string; readonly message: string }[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`);

describe('a server', () => {
  it('has no evictions by request unless the gate is on', () => {
    expect(createKindRegistry().findByKind('lifecycle.k8s.io/v1alpha1', 'EvictionRequest')).toBeUndefined();
    const [off, on] = [createSchemaRegistry(), createSchemaRegistry(schemasWith(GATES))];
    const POD_SPEC = 'io.k8s.api.core.v1.PodSpec';
    expect(off.get(POD_SPEC)?.properties).not.toHaveProperty('evictionResponders');
    expect(on.get(POD_SPEC)?.properties).toHaveProperty('evictionResponders');
    expect(Object.keys(on.get(POD_SPEC)?.properties ?? {})).toEqual([
      ...Object.keys(off.get(POD_SPEC)?.properties ?? {}),
      'evictionResponders',
    ]);
    expect(off.names.filter((name) => name.includes('lifecycle'))).toEqual([]);
    expect(on.describe(POD_SPEC)).toMatchObject(off.describe(POD_SPEC));
  });
});

describe('the request of an eviction', () => {
  const kind = kindOf(EvictionRequest);

  it('is valid with a pod, a requester and an intent', () => {
    expect(kind.validateCreate(request({}))).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['no pod', { target: {} }, /^spec.target: .*must specify one of: `pod`/],
    ['a UID that is none', { target: { pod: { name: 'web-1', uid: 'X' } } }, /^spec.target.pod.uid: .*UUID/],
    ['no UID', { target: { pod: { name: 'web-1' } } }, /^spec.target.pod.uid: Required value/],
    ['no requester', { requester: '' }, /^spec.requester: Required value/],
    ['a requester without a domain', { requester: 'me' }, /^spec.requester: .*domain-prefixed key/],
    ['a reserved requester', { requester: 'node.k8s.io/drain' }, /^spec.requester: .*are reserved/],
    ['the reserved domain itself', { requester: 'k8s.io/drain' }, /^spec.requester: .*are reserved/],
    ['another intent', { intent: 'Maybe' }, /^spec.intent: Unsupported value/],
  ])('is refused with %s', (_name, spec, problem) => {
    const errors = texts(kind.validateCreate(request(spec)));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(problem);
  });

  it('loses a status that its author wrote', () => {
    const object = { ...request({}), status: { observedGeneration: 3 } };
    kind.prepareForCreate(object, NOW_MS);
    expect(object).not.toHaveProperty('status');
    expect(object.metadata).toHaveProperty('generation', 1);
  });

  it('may be withdrawn, and changes nothing else', () => {
    const old = request({});
    expect(kind.validateUpdate(request({ intent: 'Withdrawn' }), old, '')).toEqual([]);
    expect(texts(kind.validateUpdate(request({ requester: 'example.com/other' }), old, ''))).toEqual([
      'spec.requester: Invalid value: "example.com/other": field is immutable',
    ]);
    const other = request({ target: { pod: { name: 'web-2', uid: UID } } });
    expect(texts(kind.validateUpdate(other, old, ''))[0]).toMatch(/^spec.target: .*field is immutable/);
  });

  it('has an observed generation that never goes back', () => {
    const withStatus = (observedGeneration?: number): UnstructuredObject => ({
      ...request({}),
      status: { observedGeneration },
    });
    expect(kind.validateUpdate(withStatus(3), withStatus(2), 'status')).toEqual([]);
    for (const [after, before] of [
      [1, 2],
      [undefined, 2],
      [0, undefined],
    ])
      expect(kind.validateUpdate(withStatus(after), withStatus(before), 'status')).toHaveLength(1);
  });
});

const NAMES = ['acme.io/first', 'acme.io/second', 'imperative-eviction.k8s.io/evictor'];
type States = readonly [ResponderState, ResponderState, ResponderState];

interface Shape {
  readonly states?: States;
  readonly reports?: readonly object[];
  readonly conditions?: readonly object[];
}

/** An eviction with three responders, whose reports can be completed. */
function eviction({ conditions = [], reports = [], states }: Shape): UnstructuredObject {
  const targetResponders = states?.map((state, index) => ({
    ...{ name: NAMES[index], state },
    priority: [2000, 1000, 100][index],
  }));
  const responders = states?.map((_state, index) => ({ name: NAMES[index], ...reports[index] }));
  return {
    ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'Eviction' },
    metadata: { name: 'pod-1-web-1', namespace: 'a' },
    spec: { target: TARGET },
    status: { conditions, ...(targetResponders && { targetResponders, responders }) },
  };
}

function condition(type: string, reason: string): object {
  return { type, status: 'True', reason, message: '', lastTransitionTime: at(MINUTE_MS) };
}

const STARTED = { startTime: at(MINUTE_MS) };
const NEW = { startTime: at() };
const DONE = { ...STARTED, completionTime: at() };
const SILENT = { startTime: at(20 * MINUTE_MS) };
const FAILED = condition('Failed', 'CanceledDueToNoRequesters');
const EVICTED = condition('TargetEvicted', 'PodDeleted');
const FIRST: Shape = { states: ['Active', 'Inactive', 'Inactive'], reports: [STARTED] };

describe('the turns of the responders', () => {
  const kind = kindOf(Eviction);
  const errorsOf = (old: Shape, after: Shape): string[] =>
    texts(kind.validateUpdate(eviction(after), eviction(old), 'status', NOW_MS));

  it.each<[string, Shape, Shape]>([
    ['begin with the highest priority', {}, { states: FIRST.states, reports: [NEW] }],
    ['stay as they are', FIRST, FIRST],
    [
      'pass on when one is done',
      { ...FIRST, reports: [DONE] },
      { states: ['Completed', 'Active', 'Inactive'], reports: [DONE, NEW] },
    ],
    [
      'pass on when one was silent for 20 minutes',
      { ...FIRST, reports: [SILENT] },
      { states: ['Interrupted', 'Active', 'Inactive'], reports: [SILENT, NEW] },
    ],
    [
      'end with the eviction, however far they are',
      FIRST,
      { states: ['Canceled', 'Inactive', 'Inactive'], reports: [STARTED], conditions: [FAILED] },
    ],
    [
      'do not begin if the eviction is canceled before',
      {},
      { states: ['Inactive', 'Inactive', 'Inactive'], conditions: [FAILED] },
    ],
  ])('%s', (_name, old, after) => {
    expect(errorsOf(old, after)).toEqual([]);
  });

  it.each<[string, Shape, Shape, RegExp]>([
    [
      'skip none',
      {},
      { states: ['Inactive', 'Active', 'Inactive'], reports: [{}, NEW] },
      /targetResponders\[0\].state.*must be one of: Active/,
    ],
    [
      'are not taken from one that works',
      FIRST,
      { states: ['Interrupted', 'Active', 'Inactive'], reports: [STARTED, NEW] },
      /must stay Active/,
    ],
    [
      'never go back',
      { states: ['Completed', 'Active', 'Inactive'], reports: [DONE, STARTED] },
      { states: ['Active', 'Inactive', 'Inactive'], reports: [DONE, STARTED] },
      /targetResponders\[0\].state.*must be one of: Completed/,
    ],
    [
      'end when the eviction has ended',
      FIRST,
      { ...FIRST, conditions: [EVICTED] },
      /must be one of: Canceled, Completed, Interrupted/,
    ],
    ['are kept', FIRST, {}, /must preserve the same length and the same keys/],
  ])('%s, or are refused', (_name, old, after, problem) => {
    expect(errorsOf(old, after).join('\n')).toMatch(problem);
  });

  it('go by priority, whatever the order of the list is', () => {
    const after = eviction({ states: FIRST.states, reports: [NEW] });
    const status = after.status as { targetResponders: object[]; responders: object[] };
    status.targetResponders.reverse();
    status.responders.reverse();
    expect(kind.validateUpdate(after, eviction({}), 'status', NOW_MS)).toEqual([]);
  });

  it('are over for good once there is a result', () => {
    const ended: Shape = {
      states: ['Completed', 'Inactive', 'Inactive'],
      reports: [DONE],
      conditions: [EVICTED],
    };
    expect(errorsOf(ended, { ...ended, conditions: [] }).join()).toContain('cannot be reverted');
    expect(
      errorsOf(ended, { ...ended, states: ['Completed', 'Active', 'Inactive'], reports: [DONE, NEW] }).join(),
    ).toContain('must be one of: Inactive');
  });
});

describe('the report of a responder', () => {
  const kind = kindOf(Eviction);
  const reportedAs = (report: object, old: object = STARTED): string[] =>
    texts(
      kind.validateUpdate(
        eviction({ ...FIRST, reports: [report] }),
        eviction({ ...FIRST, reports: [old] }),
        'status',
        NOW_MS,
      ),
    );

  it('is of the present', () => {
    expect(reportedAs({ ...STARTED, heartbeatTime: at(), message: 'a pod starts' })).toEqual([]);
    expect(reportedAs({ ...STARTED, heartbeatTime: at(31_000) }).join()).toContain('the present time');
    expect(reportedAs({ ...STARTED, completionTime: at(-31_000) }).join()).toContain('the present time');
    expect(reportedAs({ ...STARTED, expectedCompletionTime: at(31_000) }).join()).toContain('past time');
    expect(reportedAs({ ...STARTED, expectedCompletionTime: at(-3_600_000) })).toEqual([]);
  });

  it('never takes back a time', () => {
    expect(reportedAs({ startTime: at() }).join()).toContain('cannot be modified once set');
    expect(reportedAs(STARTED, DONE).join()).toContain('cannot be cleared once set');
    const before = { ...STARTED, heartbeatTime: at(5000) };
    expect(reportedAs({ ...STARTED, heartbeatTime: at(9000) }, before).join()).toContain(
      'cannot be decreased',
    );
    expect(reportedAs(STARTED, before).join()).toContain('is required once set');
  });

  it('has a message of at most 4000 characters', () => {
    expect(reportedAs({ ...STARTED, message: 'ä'.repeat(4000) })).toEqual([]);
    expect(reportedAs({ ...STARTED, message: 'ä'.repeat(4001) })).toHaveLength(1);
  });

  it('is not written for a responder whose turn it is not', () => {
    const after = eviction({ ...FIRST, reports: [STARTED, { message: 'me first' }] });
    expect(texts(kind.validateUpdate(after, eviction(FIRST), 'status', NOW_MS)).join()).toContain(
      'status.responders[1]: Invalid value',
    );
  });
});

describe('the responders of a pod', () => {
  const kind = kinds.find('', 'v1', 'pods')!;
  const problemsOf = (evictionResponders: readonly object[], others: object = {}): string[] => {
    const container = { name: 'c', image: 'i' };
    const pod: UnstructuredObject = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'a' } },
      spec: { containers: [container], evictionResponders, ...others },
    };
    kind.applyDefaults(pod);
    kind.prepareForCreate(pod, NOW_MS);
    return texts(kind.validateCreate(pod)).filter((text) => text.includes('evictionResponders'));
  };

  it('have a name with a domain and a priority', () => {
    expect(problemsOf([{ name: 'acme.io/a', priority: 1000 }])).toEqual([]);
  });

  it.each<[string, readonly object[], RegExp]>([
    ['no domain', [{ name: 'a', priority: 1000 }], /domain-prefixed key/],
    ['a reserved domain', [{ name: 'x.kubernetes.io/a', priority: 1000 }], /are reserved/],
    ['no priority', [{ name: 'acme.io/a' }], /priority: Required/],
    ['a reserved priority', [{ name: 'acme.io/a', priority: 999 }], /0-999 is reserved/],
    [
      'a priority that is too high',
      [{ name: 'acme.io/a', priority: 100_001 }],
      /less than or equal to 100000/,
    ],
    [
      'the same name twice',
      [
        { name: 'acme.io/a', priority: 1000 },
        { name: 'acme.io/a', priority: 1001 },
      ],
      /Duplicate value/,
    ],
    [
      'more than ten',
      Array.from({ length: 11 }, (_, index) => ({ name: `acme.io/a${index}`, priority: 1000 })),
      /at most 10 items/,
    ],
  ])('are refused with %s', (_name, responders, problem) => {
    expect(problemsOf(responders).join()).toMatch(problem);
  });

  it('cannot be changed', () => {
    const pod = (priority: number): UnstructuredObject => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'a' } },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        evictionResponders: [{ name: 'acme.io/a', priority }],
      },
    });
    const [old, after] = [pod(1000), pod(2000)];
    for (const each of [old, after]) kind.applyDefaults(each);
    expect(texts(kind.validateUpdate(after, old, '')).join()).toContain('pod updates may not change');
  });
});
