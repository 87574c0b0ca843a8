import type { LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import { ENDS_SOON_MS } from './decide-certificates.js';
import type { Asked, Finding } from './finding.js';
import { failure, isForbidden, ok, orElse, skipped, warning } from './finding.js';
import type { Webhook } from './resources.js';

/** A webhook that the API calls for what the controllers write. */
export interface WebhookFacts {
  readonly configuration: string;
  readonly webhook: Webhook;
  /** The Service of a webhook in the cluster. Undefined: it may not be looked at, or is outside of the cluster. */
  readonly service?: {
    readonly exists: boolean;
    readonly ready: number;
    /** The labels of its namespace, where they may be read. */
    readonly namespaceLabels?: Readonly<Record<string, string>>;
  };
  /** When the authority that it is checked against ends; NaN where there is none that can be read. */
  readonly authorityEndsAtMs?: number;
}

/** A write that was tried without being stored (`dryRun=All`). */
export interface TriedWrite {
  /** `ReplicaSet` */
  readonly kind: string;
  readonly namespace: string;
  readonly tookMs: number;
  /** The refusal by the API; undefined: it would have been done. */
  readonly refusal?: { readonly code: number; readonly message: string };
}

export interface AdmissionFacts {
  readonly webhooks: Asked<readonly WebhookFacts[]>;
  readonly tried: Asked<readonly TriedWrite[]>;
}

/** Longer than the API's own default: a webhook that hangs holds each write for as long. */
const LONG_TIMEOUT_S = 10;
const SLOW_WRITE_MS = 1000;

export function decideWebhooks({ tried, webhooks }: AdmissionFacts, nowMs: number): readonly Finding[] {
  return [...decideConfigured(webhooks, nowMs), ...decideTried(tried)];
}

function decideConfigured(asked: Asked<readonly WebhookFacts[]>, nowMs: number): readonly Finding[] {
  if (asked.is !== 'answered')
    return [
      skipped(
        'webhooks',
        `the webhooks were not checked: ${asked.why}`,
        isForbidden(asked)
          ? 'grant the right to list validatingwebhookconfigurations and mutatingwebhookconfigurations'
          : undefined,
      ),
    ];
  const ours = asked.value.filter(({ webhook }) => concernsUs(webhook));
  return orElse(
    ours.flatMap((facts) => decideWebhook(facts, nowMs)),
    ok('webhooks', calmSentence(ours.length)),
  );
}

function calmSentence(count: number): string {
  if (count === 0) return 'no webhook sees Deployments, ReplicaSets or pods';
  const which = count === 1 ? 'one webhook sees' : `${count} webhooks see`;
  return `${which} Deployments, ReplicaSets or pods, and no problem was found`;
}

const WRITES = [
  { group: 'apps', resources: ['deployments', 'deployments/status', 'replicasets', 'replicasets/status'] },
  { group: '', resources: ['pods'] },
];

/** Whether it is called for something that the controllers write. */
export function concernsUs({ rules = [] }: Webhook): boolean {
  return rules.some(({ apiGroups = [], resources = [] }) =>
    WRITES.some(
      ({ group, resources: written }) =>
        (apiGroups.includes('*') || apiGroups.includes(group)) &&
        written.some((resource) => resources.some((pattern) => coversResource(pattern, resource))),
    ),
  );
}

/** `pods`, `pods/*`, `*` (no subresources), and all of them. */
function coversResource(pattern: string, resource: string): boolean {
  const [base, subresource = ''] = pattern.split('/');
  const [wanted, of = ''] = resource.split('/');
  return (base === '*' || base === wanted) && (subresource === '*' || subresource === of);
}

function decideWebhook(facts: WebhookFacts, nowMs: number): readonly Finding[] {
  const { configuration, service, webhook } = facts;
  const name = `${webhook.name} (${configuration})`;
  const refuses = webhook.failurePolicy !== 'Ignore';
  const level = refuses ? failure : warning;
  const effect = refuses
    ? 'every write that it sees is refused'
    : 'every write that it sees is delayed, and then admitted';
  const where = webhook.clientConfig?.service;
  const place = where ? `${where.namespace}/${where.name}` : '';
  const remedy = `repair it, or \`kubectl delete\` its configuration, or exclude namespaces by its namespaceSelector`;
  return [
    ...(service && !service.exists
      ? [level('webhooks', `${name}: there is no Service ${place}, so ${effect}`, remedy)]
      : []),
    ...(service?.exists && service.ready === 0
      ? [level('webhooks', `${name}: no ready endpoint behind Service ${place}, so ${effect}`, remedy)]
      : []),
    ...decideAuthority(facts, nowMs, name),
    ...((webhook.timeoutSeconds ?? LONG_TIMEOUT_S) > LONG_TIMEOUT_S
      ? [
          warning(
            'webhooks',
            `${name}: its timeout is ${webhook.timeoutSeconds} s, and each write that it sees waits that long if it hangs`,
            'set its timeoutSeconds to a few seconds',
          ),
        ]
      : []),
    ...(refuses && seesItself(facts)
      ? [
          warning(
            'webhooks',
            `${name}: it sees the pods of its own namespace ${where?.namespace}; if all of them stop, none can be created`,
            `exclude its namespace: namespaceSelector with kubernetes.io/metadata.name NotIn [${where?.namespace}]`,
          ),
        ]
      : []),
  ];
}

function decideAuthority(
  { authorityEndsAtMs, webhook }: WebhookFacts,
  nowMs: number,
  name: string,
): readonly Finding[] {
  if (authorityEndsAtMs === undefined) return [];
  const remedy = 'renew its certificate, and the caBundle in its configuration';
  if (Number.isNaN(authorityEndsAtMs))
    return [warning('webhooks', `${name}: its caBundle contains no readable certificate`, remedy)];
  if (authorityEndsAtMs - nowMs > ENDS_SOON_MS) return [];
  const end = new Date(authorityEndsAtMs).toISOString();
  if (authorityEndsAtMs > nowMs)
    return [warning('webhooks', `${name}: the authority in its caBundle ends at ${end}`, remedy)];
  const level = webhook.failurePolicy === 'Ignore' ? warning : failure;
  return [level('webhooks', `${name}: the authority in its caBundle ended at ${end}`, remedy)];
}

/** Whether its own pods could not be made while none of them runs. */
function seesItself({ service, webhook }: WebhookFacts): boolean {
  const labels = service?.namespaceLabels;
  if (!labels || !seesNewPods(webhook)) return false;
  const selects = (selector: LabelSelector | undefined): boolean =>
    selector === undefined || (tryCompileLabelSelector(selector)?.(labels) ?? false);
  return selects(webhook.namespaceSelector) && isEmpty(webhook.objectSelector);
}

function seesNewPods({ rules = [] }: Webhook): boolean {
  return rules.some(
    ({ apiGroups = [], operations = [], resources = [] }) =>
      (apiGroups.includes('') || apiGroups.includes('*')) &&
      (operations.includes('CREATE') || operations.includes('*')) &&
      resources.some((pattern) => coversResource(pattern, 'pods')),
  );
}

function isEmpty(selector: LabelSelector | undefined): boolean {
  return (
    Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0
  );
}

function decideTried(asked: Asked<readonly TriedWrite[]>): readonly Finding[] {
  if (asked.is !== 'answered') return [skipped('webhooks', `no write was attempted: ${asked.why}`)];
  const tried = asked.value;
  const kinds = tried.map(({ kind }) => kind).join(', ');
  return orElse(
    tried.flatMap(decideTry),
    ok('webhooks', `a ${kinds} would be accepted in namespace ${tried[0]?.namespace ?? ''} (dry run)`),
  );
}

function decideTry({ kind, namespace, refusal, tookMs }: TriedWrite): readonly Finding[] {
  const what = `a ${kind} in namespace ${namespace} (dry run)`;
  if (refusal === undefined) {
    if (tookMs < SLOW_WRITE_MS) return [];
    return [
      warning(
        'webhooks',
        `${what} takes ${Math.round(tookMs)} ms`,
        'find the webhook that is slow: the API’s metric apiserver_admission_webhook_admission_duration_seconds names it',
      ),
    ];
  }
  const { code, message } = refusal;
  if (isOfOurOwnRights(code, message))
    return [
      skipped(
        'webhooks',
        `${what} could not be attempted: ${message}`,
        'use --dry-run-namespace, or --no-dry-run',
      ),
    ];
  const isUnreachable = /failed calling webhook/i.test(message);
  return [
    (isUnreachable ? failure : warning)(
      'webhooks',
      `${what} is refused: ${message}`,
      isUnreachable
        ? 'repair the webhook, or delete its configuration'
        : 'if rollouts should run there, change the policy; the dry run’s pod is of the restricted Pod Security Standard and has requests and limits',
    ),
  ];
}

/** The API's own refusal of a user, not one of admission. */
function isOfOurOwnRights(code: number, message: string): boolean {
  return (code === 403 && /\bcannot (create|update)\b/.test(message)) || code === 401 || code === 404;
}
