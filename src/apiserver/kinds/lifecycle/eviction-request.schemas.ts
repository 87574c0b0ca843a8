import type { Descriptions, ObjectSchema, PreviewedSchemas } from '../../schema/index.js';

const PACKAGE = 'io.k8s.api.lifecycle.v1alpha1';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const POD_SPEC = 'io.k8s.api.core.v1.PodSpec';
const RESPONDER = 'io.k8s.api.core.v1.EvictionResponder';

const TEXT: ObjectSchema = { type: 'string' };
const OPTIONAL_TEXT: ObjectSchema = { type: 'string', keepEmpty: true };
const INT32: ObjectSchema = { type: 'integer', format: 'int32' };
const INT64: ObjectSchema = { type: 'integer', format: 'int64' };
const TIME = ref(`${META}.Time`);

function ref(name: string): ObjectSchema {
  return { type: 'ref', ref: name };
}

function own(name: string): ObjectSchema {
  return ref(`${PACKAGE}.${name}`);
}

function listBy(key: string, items: ObjectSchema): ObjectSchema {
  return {
    type: 'array',
    items,
    patchStrategy: 'merge',
    patchMergeKey: key,
    listType: 'map',
    listMapKeys: [key],
  };
}

function object(
  properties: Readonly<Record<string, ObjectSchema>>,
  required: readonly string[] = [],
): ObjectSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function kind(spec: string, status: string): ObjectSchema {
  const head = { apiVersion: TEXT, kind: TEXT, metadata: ref(`${META}.ObjectMeta`) };
  return object({ ...head, spec: own(spec), status: own(status) }, ['spec']);
}

const CONDITIONS = listBy('type', ref(`${META}.Condition`));
const POD_REFERENCE = object({ name: TEXT, uid: TEXT }, ['name', 'uid']);
const ATOMIC = { mapType: 'atomic' } as const;

const TYPES: Readonly<Record<string, ObjectSchema>> = {
  EvictionRequest: kind('EvictionRequestSpec', 'EvictionRequestStatus'),
  EvictionRequestSpec: object({ target: own('EvictionRequestTarget'), requester: TEXT, intent: TEXT }, [
    'target',
    'requester',
    'intent',
  ]),
  EvictionRequestTarget: object({ pod: own('EvictionRequestPodReference') }),
  EvictionRequestPodReference: POD_REFERENCE,
  EvictionRequestStatus: object({ conditions: CONDITIONS, observedGeneration: INT64 }),
  Eviction: kind('EvictionSpec', 'EvictionStatus'),
  EvictionSpec: object({ target: own('EvictionTarget') }, ['target']),
  EvictionTarget: object({ pod: own('EvictionPodReference') }),
  EvictionPodReference: POD_REFERENCE,
  EvictionStatus: object({
    conditions: CONDITIONS,
    observedGeneration: INT64,
    requesters: listBy('name', own('Requester')),
    targetResponders: listBy('name', own('TargetResponder')),
    responders: listBy('name', own('ResponderStatus')),
  }),
  Requester: { ...object({ name: TEXT, intent: TEXT }, ['name', 'intent']), ...ATOMIC },
  TargetResponder: {
    ...object({ name: TEXT, priority: INT32, state: TEXT }, ['name', 'priority', 'state']),
    ...ATOMIC,
  },
  ResponderStatus: object(
    {
      ...{ name: TEXT, startTime: TIME, heartbeatTime: TIME, expectedCompletionTime: TIME },
      ...{ completionTime: TIME, message: OPTIONAL_TEXT },
    },
    ['name'],
  ),
};

const TARGET = 'The object that is to go. It cannot be changed.';
const POD = {
  name: 'The name of the pod.',
  uid: 'The UID of the pod: another pod of the name is not meant.',
};

const WORDS: Readonly<Record<string, Descriptions>> = {
  EvictionRequest: {
    '': 'The wish of one requester that a pod goes. The eviction-request controller makes an Eviction of all requests for a pod.',
    spec: 'What is asked for, and by which requester.',
    status: 'The outcome, as the eviction-request controller reports it.',
  },
  EvictionRequestSpec: {
    target: TARGET,
    requester:
      'The name of the requester, with a domain, such as example.com/drainer. Domains below k8s.io and kubernetes.io are reserved. It cannot be changed.',
    intent:
      'Eviction: the target is to go. Withdrawn: this requester no longer asks for it. An eviction that no requester asks for is canceled.',
  },
  EvictionRequestTarget: { pod: 'A pod in the same namespace.' },
  EvictionRequestPodReference: POD,
  EvictionRequestStatus: {
    conditions: 'TargetEvicted: the target is gone. Failed: no responder works on it any more.',
    observedGeneration: 'The generation of the request that the status is based on.',
  },
  Eviction: {
    '': 'The eviction of a pod, made by the eviction-request controller. The responders of the pod take turns on it, by their priority, and report in the status.',
    spec: 'The target of the eviction.',
    status: 'The turns of the responders, and what they report.',
  },
  EvictionSpec: { target: TARGET },
  EvictionTarget: { pod: 'A pod in the same namespace.' },
  EvictionPodReference: POD,
  EvictionStatus: {
    conditions:
      'TargetEvicted: the target is gone. Failed: no responder works on it any more. Both are final once True.',
    observedGeneration: 'The generation of the eviction that the status is based on.',
    requesters: 'The requesters, those included that have withdrawn.',
    targetResponders:
      'The responders with their turns. Their number and their names do not change. At most one is Active.',
    responders:
      'The reports of the responders, in the order of targetResponders. Only the active one writes its own.',
  },
  Requester: { name: 'The name of the requester.', intent: 'What it asks for: Eviction or Withdrawn.' },
  TargetResponder: {
    name: 'The name of the responder.',
    priority: 'The responder with the highest priority comes first.',
    state:
      'Inactive: not yet. Active: its turn. Interrupted: it gave no sign of life for 20 minutes. Canceled: no requester asks for the eviction. Completed: it has set completionTime.',
  },
  ResponderStatus: {
    name: 'The name of the responder.',
    startTime: 'When its turn began.',
    heartbeatTime: 'Its last sign of life. Without one for 20 minutes the next responder has its turn.',
    expectedCompletionTime: 'When it expects to be done.',
    completionTime: 'When it stopped, whether or not the target is gone.',
    message: 'What it is doing, in words.',
  },
};

function qualified<T>(byName: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(byName).map(([name, value]) => [`${PACKAGE}.${name}`, value]));
}

/**
 * EvictionRequests and Evictions, and the responders of pods. Source of the shapes: k8s.io/api/lifecycle/v1alpha1 and
 * core/v1 of Kubernetes 1.37.
 */
export const EVICTION_REQUEST_SCHEMAS: PreviewedSchemas = {
  types: {
    ...qualified(TYPES),
    [RESPONDER]: { ...object({ name: TEXT, priority: INT32 }, ['name', 'priority']), ...ATOMIC },
  },
  properties: { [POD_SPEC]: { evictionResponders: listBy('name', ref(RESPONDER)) } },
  descriptions: {
    ...qualified(WORDS),
    [POD_SPEC]: {
      evictionResponders:
        'The responders that take turns when an eviction of the pod is requested, at most 10. They can only be set on creation.',
    },
    [RESPONDER]: {
      '': 'A responder to evictions of the pod.',
      name: 'The name of the responder, with a domain, such as example.com/drainer.',
      priority:
        'From 1000 to 100000; the highest comes first. The controller of the pod has 10000. Numbers below 1000 are reserved.',
    },
  },
  goFacts: qualified({
    EvictionRequest: {
      always: { metadata: {}, spec: { target: {}, requester: '', intent: '' }, status: {} },
    },
    EvictionRequestSpec: { always: { target: {}, requester: '', intent: '' } },
    EvictionRequestPodReference: { always: { name: '', uid: '' } },
    Eviction: { always: { metadata: {}, spec: { target: {} }, status: {} } },
    EvictionSpec: { always: { target: {} } },
    EvictionPodReference: { always: { name: '', uid: '' } },
  }),
};
