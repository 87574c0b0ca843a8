import { counted } from '@rollkeeper/machinery/text';
import { findCondition, isEmptySelector, keyOf } from '@rollkeeper/machinery/kubernetes';
import { isObserved, validateDeployment } from '@rollkeeper/controllers/deployment';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { WHILE_STORE_IS_SILENT, storeWord } from '../silent-store.js';
import { describeReason, selectorsOverlap } from '@rollkeeper/controllers/shared';
import type { ExplainInput } from './explain-input.js';
import type { Finding } from './explanation.js';
import { queueFindings, replicaSetQueueFindings } from './queue-findings.js';
import type { RolloutFacts } from './rollout-facts.js';
import { unobservedFinding } from './unobserved.js';

/** A reason not to act on the Deployment at all; nothing else is checked then. */
export function refusalOf({ deployment }: ExplainInput): Finding | undefined {
  if (isEmptySelector(deployment.spec.selector)) {
    return {
      cause: 'empty-selector',
      severity: 'blocked',
      summary: 'its selector is empty and would match every pod of the namespace, so it is not reconciled',
      unblockedBy: ['delete it and recreate it with a selector: selectors are immutable'],
    };
  }
  const validation = validateDeployment(deployment);
  if (validation.valid) return undefined;
  const summary = `its spec is invalid: ${validation.problem}`;
  return { cause: 'invalid-spec', severity: 'blocked', summary, unblockedBy: ['correct the spec'] };
}

/** Deletion: what it waits for. */
export function deletionOf({ deployment, pods, replicaSets }: ExplainInput): Finding | undefined {
  const { deletionTimestamp, finalizers = [] } = deployment.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const foreground = finalizers.includes('foregroundDeletion');
  const others = finalizers.filter((name) => name !== 'foregroundDeletion');
  const summary = [
    `it is being deleted`,
    foreground
      ? `, dependents first: ${counted(replicaSets.length, 'ReplicaSet')} and ${counted(pods.length, 'pod')} are left`
      : '',
    others.length > 0 ? `; finalizers ${others.join(', ')} block it` : '',
  ].join('');
  const unblockedBy = [
    ...(foreground
      ? ['the garbage collector deletes its ReplicaSets and pods, then removes the finalizer']
      : []),
    ...(others.length > 0 ? [`the owner of ${others.join(', ')} must remove it`] : []),
  ];
  return { cause: 'deleting', severity: others.length > 0 ? 'blocked' : 'waits', summary, unblockedBy };
}

/** The finding that its key failed, which says less than why. */
export function failureFindings({ deployment, nowMs, queue }: ExplainInput): Finding[] {
  if (!queue) return [];
  const key = {
    controller: 'deployment',
    key: keyOf(deployment.metadata),
    whose: 'its',
    broughtBackBy: 'any change of the Deployment',
  } as const;
  return queueFindings(key, queue, nowMs);
}

/** Whether any replica processes the key at all. */
export function controlFindings(input: ExplainInput): Finding[] {
  const { control, deployment, nowMs, queue } = input;
  const findings: Finding[] = apiFinding(control?.apiProblem);
  if (control?.store?.answers === false) {
    findings.push(storeFinding(control.store, nowMs));
  } else if (control && !control.controllerRuns) {
    findings.push({
      cause: 'controller-not-running',
      severity: 'blocked',
      summary: `no replica runs the ${input.sizedElsewhere ? 'controller of its rollouts' : 'Deployment controller'}${queue?.waiting ? '; its key waits in the queue' : ''}`,
      unblockedBy: [
        input.sizedElsewhere
          ? 'start the replicas with --stateful-sets or --daemon-sets'
          : 'start one: rollkeeper controller, with deployment among its --controllers',
      ],
    });
  } else if (control && control.leader === undefined) {
    findings.push({
      cause: 'no-leader',
      severity: 'waits',
      summary: 'no replica leads, so changes are not reconciled',
      unblockedBy: ['an election: after a crash it takes as long as the lease; Redis must be reachable'],
    });
  }
  const unobserved = unobservedFinding({
    metadata: deployment.metadata,
    observedGeneration: deployment.status?.observedGeneration,
    controller: 'Deployment controller',
    ...{ nowMs, isOld: input.areChangesOld },
  });
  if (unobserved && !queue?.parked) findings.push(unobserved);
  return findings;
}

/** The finding that all else is as old as the last answer. */
function apiFinding(problem: string | undefined): Finding[] {
  if (problem === undefined) return [];
  return [
    {
      cause: 'api-silent',
      severity: 'blocked',
      summary: `the API server does not answer (${problem}): what is shown is its state before that; pods that run go on running, and nothing is rolled out, scaled or replaced`,
      unblockedBy: [
        'the API server answering again: is its process running, and reachable? rollkeeper doctor shows what answers',
      ],
    },
  ];
}

/** Nothing else is known then: neither the lease nor the queues can be read. */
function storeFinding(
  { name, silentSinceMs }: { readonly name: string; readonly silentSinceMs?: number },
  nowMs: number,
): Finding {
  const store = storeWord(name);
  const seconds = silentSinceMs === undefined ? 0 : Math.max(0, Math.round((nowMs - silentSinceMs) / 1000));
  const since = silentSinceMs === undefined ? '' : ` since ${toRfc3339(silentSinceMs)} (${seconds} s)`;
  return {
    cause: 'store-silent',
    severity: 'blocked',
    summary: `${store} does not answer${since}: ${WHILE_STORE_IS_SILENT}`,
    unblockedBy: [`${store} answering again: is its process running, out of memory, or unreachable?`],
  };
}

/** Findings in other objects: pod creation is blocked, another Deployment selects the same pods. */
export function environmentFindings(input: ExplainInput, { latest, replicaSets }: RolloutFacts): Finding[] {
  const findings: Finding[] = [...namespaceFinding(input)];
  const progressing = findCondition(input.deployment.status?.conditions, 'Progressing');
  if (progressing?.reason === 'ReplicaSetCreateError') {
    const summary = progressing.message ?? 'the new ReplicaSet cannot be created';
    const unblockedBy = [
      'remove the cause of the refusal: a quota, an admission webhook, missing permissions',
    ];
    findings.push({ cause: 'replicaset-create-error', severity: 'blocked', summary, unblockedBy });
  }
  for (const set of replicaSets) {
    const failure = set.draft.status.conditions?.find(
      ({ status, type }) => type === 'ReplicaFailure' && status === 'True',
    );
    if (!failure) continue;
    const quota = /quota/i.test(failure.message ?? '');
    findings.push({
      cause: quota ? 'quota' : 'pod-create-error',
      severity: set === latest ? 'blocked' : 'note',
      summary: `${set.name} cannot create its pods: ${describeReason({ reason: 'ReplicaFailure', ...failure })}`,
      unblockedBy: quota
        ? ['raise the ResourceQuota, or reduce the usage']
        : ['remove the cause of the refusal: admission, a limit range, a missing service account'],
    });
  }
  for (const set of replicaSets) findings.push(...replicaSetQueueFindings(input, set));
  const rivals = (input.neighbours ?? []).filter((other) => selectorsOverlap(input.deployment, other));
  if (rivals.length > 0) {
    const names = rivals.map(({ metadata }) => metadata.name).join(', ');
    findings.push({
      cause: 'selector-conflict',
      severity: 'note',
      summary: `its selector and that of Deployment ${names} match the same pods`,
      unblockedBy: ['give each Deployment its own labels; until then each adopts orphans of the other'],
    });
  }
  for (const set of replicaSets) {
    if (isObserved(set.draft)) continue;
    const summary = `the ReplicaSet controller has not acted on the size of ${set.name} yet`;
    findings.push({ cause: 'replicaset-behind', severity: 'waits', summary, unblockedBy: ['its next sync'] });
  }
  return findings;
}

function namespaceFinding({ deployment, namespaceTerminating }: ExplainInput): Finding[] {
  if (!namespaceTerminating) return [];
  return [
    {
      cause: 'namespace-terminating',
      severity: 'blocked',
      summary: 'its namespace is being deleted, so nothing can be created in it',
      unblockedBy: [
        `nothing: it is deleted with the namespace; kubectl describe namespace ${deployment.metadata.namespace} shows what the deletion waits for`,
      ],
    },
  ];
}
