import { ACT_VERBS } from '../acts/act.js';
import { VERSION } from '@rollkeeper/machinery/version';

const NAME = { type: 'string', pattern: '^[\\w.-]{1,253}$' };
const text = (description: string) => ({
  description,
  content: { 'text/plain': { schema: { type: 'string' } } },
});
const json = (description: string) => ({
  description,
  content: { 'application/json': { schema: { type: 'object' } } },
});
const REFUSALS = {
  '401': json('A token is needed, or this one is not the right one.'),
  '403': json(
    'The request comes from another site, the replica has no token, or who has this one may not do that.',
  ),
  '429': json('Too many requests, or too many wrong tokens; see Retry-After.'),
  '503': json('With --admin-auth=delegated: the cluster could not be asked whose token it is.'),
};
const NOT_ACCEPTABLE = { '406': json('Neither plain text nor the structured form was asked for.') };
const NOT_FOUND = { '404': json('No such thing.') };

const inPath = (name: string) => ({ name, in: 'path', required: true, schema: NAME });
const inQuery = (name: string, schema: object, description: string) => ({
  name,
  in: 'query',
  schema,
  description,
});

const read = (summary: string, parameters: readonly object[] = [], more: object = {}) => ({
  get: { summary, parameters, responses: { '200': json('The answer.'), ...REFUSALS, ...more } },
});
const change = (
  summary: string,
  parameters: readonly object[],
  requestBody: object | undefined,
  more = {},
) => ({
  summary,
  parameters,
  security: [{ token: [] }],
  ...(requestBody ? { requestBody } : {}),
  responses: { '200': json('What is known afterwards.'), ...REFUSALS, ...more },
});
/** A change whose proof is in the body, so that it needs no token. @param fields texts, all of them needed */
const proved = (summary: string, fields: readonly string[]) => {
  const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]));
  const schema = { type: 'object', required: fields, properties };
  const body = { required: true, content: { 'application/json': { schema } } };
  return { post: { ...change(summary, [], body), security: [] } };
};
const probe = (summary: string) => ({
  get: { summary, security: [], responses: { '200': text('Well.'), '503': text('Not well.') } },
});

const keyBody = {
  required: true,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['key'],
        properties: {
          key: { type: 'string', description: 'namespace/name', maxLength: 1000 },
          reason: { type: 'string', description: 'for `park`: shown as its error' },
        },
      },
    },
  },
};
const logLevelBody = {
  required: true,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['level'],
        properties: { level: { enum: ['debug', 'info', 'warn', 'error'] } },
      },
    },
  },
};
const limit = inQuery('limit', { type: 'integer', maximum: 1000 }, 'keys of each kind');
const ofOne = inQuery(
  'scope',
  { type: 'string', enum: ['replica'] },
  'with slots: only what this replica owns; by default it asks the others too, and a header Warning names those that do not answer',
);
const onKey = (summary: string) => ({
  post: change(summary, [inPath('controller')], keyBody, NOT_FOUND),
});

const ofRollout = [
  inPath('namespace'),
  inPath('name'),
  inQuery('kind', { type: 'string', enum: ['StatefulSet', 'DaemonSet'] }, 'default: a Deployment'),
  inQuery('api', { type: 'string' }, 'apps/v1 or rollkeeper.dev/v1; the first that has it'),
];
const onRollout = (summary: string, more: Readonly<Record<string, object>> = {}) => ({
  post: change(summary, ofRollout, rolloutBody(more), {
    ...NOT_FOUND,
    '409': json('It makes no sense now.'),
  }),
});
const rolloutBody = (more: Readonly<Record<string, object>>) => ({
  required: true,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['by'],
        properties: { by: { type: 'string', maxLength: 100, description: 'who asks' }, ...more },
      },
    },
  },
});

const onObject = (object: readonly object[]) => ({
  post: change(
    'Scales, sets an image, restarts, pauses, resumes, evicts, cordons, uncordons or drains, with the rights of the one who asks',
    [
      ...object,
      { name: 'verb', in: 'path', required: true, schema: { enum: ACT_VERBS } },
      inQuery('dryRun', { type: 'boolean' }, 'only says what would change'),
    ],
    {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              by: { type: 'string', maxLength: 100, description: 'who asks, unless the cluster knows' },
              reason: { type: 'string', maxLength: 300, description: 'kept in an Event of the object' },
              replicas: { type: 'integer', minimum: 0, description: 'of scale' },
              image: { type: 'string', description: 'of set-image' },
              container: { type: 'string', description: 'of set-image, where there are several' },
            },
          },
        },
      },
    },
    { ...NOT_FOUND, '409': json('It makes no sense now.') },
  ),
});

/** The admin port's interface as OpenAPI 3.1, written by hand: a test compares it with the routes. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Rollkeeper admin API',
    version: VERSION,
    description:
      'Reads from the same machine need nothing; reads from elsewhere, and every change, need the bearer token of --admin-token-file, or with --admin-auth=delegated one that the cluster knows and allows it.',
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  security: [{}, { token: [] }],
  paths: {
    '/livez': probe('Alive'),
    '/livez/{check}': probe('One check of /livez'),
    '/readyz': probe('Ready to work on keys'),
    '/readyz/{check}': probe('One check of /readyz'),
    '/healthz': probe('All checks'),
    '/healthz/{check}': probe('One check of all'),
    '/metrics': probe('Metrics for Prometheus'),
    '/': {
      get: {
        summary: 'Leads to the console',
        security: [],
        responses: { '302': { description: 'To /console' } },
      },
    },
    '/configz': read('The options in force, without secrets, as components of Kubernetes tell theirs'),
    '/flagz': read('The same as flags, in plain text or as a Flagz of config.k8s.io', [], NOT_ACCEPTABLE),
    '/statusz': read(
      'Since when it runs, and which release, in plain text or as a Statusz',
      [],
      NOT_ACCEPTABLE,
    ),
    '/console': probe('The console: a page for people'),
    '/console/signed-in': probe('The same, where an identity provider sends browsers back to'),
    '/console/sign-in-ways': probe('How people can sign in here, beside links and tokens'),
    '/console/{file}': probe("The console's files"),
    '/console/directives/{file}': probe('Those of the library that draws it'),
    '/admin/openapi.json': read('This document'),
    '/admin/status': read('What this replica says of itself'),
    '/admin/leadership': read('Who led, since when, and why that changed'),
    '/admin/local': read('The same, and what it works on; what replicas ask each other'),
    '/admin/local/decisions': read("This replica's last decisions", [
      inQuery('controller', NAME, 'with `key`'),
      inQuery('key', { type: 'string' }, 'namespace/name'),
      inQuery('uid', { type: 'string' }, 'with `key`: about this object alone'),
      inQuery('since', { type: 'integer' }, 'epoch milliseconds'),
      inQuery('limit', { type: 'integer', maximum: 1000 }, 'newest first'),
    ]),
    '/admin/local/traces/{id}': read('The spans of a trace that this replica still has', [inPath('id')]),
    '/admin/traces/{id}': read('The spans of a trace that the replicas still have', [inPath('id')]),
    '/admin/local/objectives': read('How soon rollouts were answered and done while this replica led'),
    '/admin/objectives': read(
      'The objectives: their measurements of all replicas, and how much of the budget is burnt',
    ),
    '/admin/replicas': read('Leader, lease, and every replica with its controllers and what it works on'),
    '/admin/controllers': read('The controllers of this replica, their workers and queues'),
    '/admin/config': read('The options in force, without secrets'),
    '/admin/log-level': {
      ...read('The log level'),
      put: change('Sets the log level until the process ends', [], logLevelBody),
    },
    '/admin/queues': read('Each queue with its counts', [ofOne]),
    '/admin/queues/{controller}': read(
      'Waiting, running (by whom, since when), delayed (until when), parked (with the last error and the next try)',
      [inPath('controller'), limit, ofOne],
      NOT_FOUND,
    ),
    '/admin/queues/{controller}/key': read(
      'What the queue knows of one key',
      [inPath('controller'), inQuery('key', { type: 'string' }, 'namespace/name')],
      NOT_FOUND,
    ),
    '/admin/queues/{controller}/requeue': onKey('Runs the key as soon as a worker is free'),
    '/admin/queues/{controller}/park': onKey('Sets the key aside until its object changes'),
    '/admin/queues/{controller}/unpark': onKey('Takes a parked key out and runs it'),
    '/admin/queues/{controller}/purge': onKey('Forgets all about the key until its object changes'),
    '/admin/rollouts/{namespace}/{name}': read(
      'The steps of a rollout with where it is, and the history of its revisions',
      ofRollout,
      NOT_FOUND,
    ),
    '/admin/rollouts/{namespace}/{name}/explanation': read(
      'Why a rollout of a Deployment or a set is where it is',
      ofRollout,
      NOT_FOUND,
    ),
    '/admin/rollouts/{namespace}/{name}/changes': read(
      'What going back to a revision would change',
      [
        ...ofRollout,
        inQuery('revision', { type: 'integer', minimum: 1 }, 'the number of a revision'),
        inQuery(
          'from',
          { type: 'integer', minimum: 1 },
          'what differs from this one to it; default: from what runs',
        ),
      ],
      NOT_FOUND,
    ),
    '/admin/rollouts/{namespace}/{name}/timeline': read(
      'What was asked of a Deployment, by whom and by which means, how it ended, and its sizes over time; oldest first',
      [
        ...ofRollout,
        inQuery('since', { type: 'string' }, 'a duration, 24h, or an RFC 3339 time; default: everything'),
        inQuery('events', { type: 'boolean' }, 'false: without Events'),
      ],
      NOT_FOUND,
    ),
    '/admin/rollouts/{namespace}/{name}/promote': onRollout('Approves of the step at which it waits'),
    '/admin/rollouts/{namespace}/{name}/abort': onRollout('Goes back to the last good revision'),
    '/admin/rollouts/{namespace}/{name}/retry': onRollout('Tries a template again that failed'),
    '/admin/rollouts/{namespace}/{name}/undo': onRollout('Goes back to a revision', {
      revision: { type: 'integer', minimum: 1, description: 'default: the one before' },
      reason: { type: 'string', maxLength: 300, description: 'kept in the history' },
    }),
    '/admin/problems': read('What is stuck or degraded, with causes and remedies', [
      inQuery('namespace', NAME, 'only this one; default: all, and the objects of the cluster'),
    ]),
    '/admin/explain/{kind}/{namespace}/{name}': read(
      'Why an object of another kind is where it is; of a pod on no node, also why each node does not take it',
      [inPath('kind'), inPath('namespace'), inPath('name')],
      NOT_FOUND,
    ),
    '/admin/explain/{kind}/{name}': read(
      'The same of an object of the cluster, such as a node or a namespace',
      [inPath('kind'), inPath('name')],
      NOT_FOUND,
    ),
    '/admin/objects/caller': read('The user of the cluster who asks, where it is one'),
    '/admin/sign-in': {
      post: change('A code that signs a browser in, once and within five minutes', [], undefined),
    },
    '/admin/sign-in/exchange': proved('The session for such a code, of twelve hours', ['code']),
    '/admin/sign-in/hand-over': read(
      'A ticket with which another console of --console-clusters shows what is wrong here',
      [inQuery('to', { type: 'string' }, 'the origin of that console')],
    ),
    '/admin/sign-in/take-over': proved('The session for such a ticket, which reads problems alone', [
      'ticket',
    ]),
    '/admin/clusters': read('The consoles of --console-clusters, and how they are'),
    '/admin/clusters/{name}/problems': read(
      'What is wrong in another cluster, with the session there in X-Rollkeeper-Cluster-Session',
      [inPath('name')],
      NOT_FOUND,
    ),
    '/admin/clusters/{name}/session': read(
      'The session there for the ticket in X-Rollkeeper-Cluster-Ticket',
      [inPath('name')],
      NOT_FOUND,
    ),
    '/admin/sign-in/oidc': proved('Where the identity provider signs people in, and what to come back with', [
      'returnTo',
    ]),
    '/admin/sign-in/oidc/exchange': proved('The session for what the provider has answered', [
      'pending',
      'answer',
    ]),
    '/admin/sign-in/oidc/renew': proved('The next session, while the provider stands for the person', [
      'renewal',
    ]),
    '/admin/sign-in/oidc/end': proved('The session is renewed no more', ['renewal']),
    '/admin/objects': read('The kinds whose objects have pages'),
    '/admin/objects/{kind}': read(
      'The objects of a kind, with the rights of the one who asks',
      [
        inPath('kind'),
        inQuery('namespace', NAME, 'only this one; default: all'),
        inQuery('find', { type: 'string', maxLength: 200 }, 'words in name or labels'),
      ],
      NOT_FOUND,
    ),
    '/admin/objects/{kind}/{namespace}/{name}': read(
      'An object as YAML, its Events, its owners and what it made; without a token without values that may be secret',
      [inPath('kind'), inPath('namespace'), inPath('name')],
      NOT_FOUND,
    ),
    '/admin/objects/{kind}/{name}': read(
      'The same of an object of the cluster',
      [inPath('kind'), inPath('name')],
      NOT_FOUND,
    ),
    '/admin/objects/pods/{namespace}/{name}/log': read(
      'Server-sent events: the log of a container; needs a token also from this machine',
      [
        inPath('namespace'),
        inPath('name'),
        inQuery('container', NAME, "the pod's only one"),
        inQuery('follow', { type: 'boolean' }, 'go on until the container ends'),
        inQuery('previous', { type: 'boolean' }, "of the container's life before this one"),
        inQuery('lines', { type: 'integer', maximum: 5000 }, 'the last so many; default 500'),
      ],
    ),
    '/admin/objects/{resource}/{namespace}/{name}/{verb}': onObject([
      inPath('resource'),
      inPath('namespace'),
      inPath('name'),
    ]),
    '/admin/objects/{resource}/{name}/{verb}': onObject([inPath('resource'), inPath('name')]),
    '/admin/bull-board': read('A page: the queues as BullMQ has them, read only'),
    '/admin/deployments': read('Each Deployment with its state in one sentence', [ofOne]),
    '/admin/explain/deployments/{namespace}/{name}': read(
      'Why a rollout is where it is',
      [
        inPath('namespace'),
        inPath('name'),
        inQuery('api', { type: 'string' }, 'apps/v1 or rollkeeper.dev/v1; the first that has it'),
      ],
      NOT_FOUND,
    ),
    '/admin/events': read('Server-sent events: what the console shows, live', [ofOne]),
    '/admin/debug/heap-snapshot': { post: change('A V8 heap snapshot', [], undefined) },
    '/admin/debug/cpu-profile': {
      post: change(
        'A CPU profile',
        [inQuery('seconds', { type: 'integer', maximum: 60 }, 'default 5')],
        undefined,
      ),
    },
  },
} as const;
