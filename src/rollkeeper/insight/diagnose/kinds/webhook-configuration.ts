import { counted } from '@rollkeeper/machinery/text';
import type * as admissionV1 from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Kind } from '@rollkeeper/runtime';
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration, untyped } from '@rollkeeper/runtime';
import { authorityFindings } from '../authority-findings.js';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import {} from '../findings.js';
import { SERVER_NEEDS, serverProblem } from '../server-problem.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type Configuration = KubernetesObject & Pick<admissionV1.ValidatingWebhookConfiguration, 'webhooks'>;
type Webhook = DeepReadonly<NonNullable<Configuration['webhooks']>[number]>;

/** Webhook configurations: those whose server is not there, so that what they match cannot be written. */
export const validatingWebhookDiagnosis = webhookDiagnosis(ValidatingWebhookConfiguration);
export const mutatingWebhookDiagnosis = webhookDiagnosis(MutatingWebhookConfiguration);

function webhookDiagnosis(kind: Kind): KindDiagnosis<Configuration> {
  return {
    type: untyped(kind),
    aliases: [],
    needs: () => SERVER_NEEDS,
    judge({ webhooks = [] }, snapshot, nowMs): Verdict {
      const findings = webhooks.flatMap((webhook) => [
        ...findingsOf(webhook, snapshot),
        ...authorityFindingsOf(webhook, nowMs),
      ]);
      return {
        good: { state: 'healthy', sentence: `${counted(webhooks.length, 'webhook')}` },
        findings,
        // A certificate that will end has not ended yet.
        bad: findings.every(isToCome) ? 'degraded' : 'blocked',
      };
    },
  };
}

function findingsOf(webhook: Webhook, snapshot: Snapshot): DiagnosisFinding[] {
  const { service } = webhook.clientConfig;
  if (!service) return [];
  const { name = '', namespace = '' } = service;
  const problem = serverProblem(snapshot, service);
  if (problem === undefined) return [];
  const isFatal = (webhook.failurePolicy ?? 'Fail') === 'Fail';
  return [
    {
      cause: 'webhook-unreachable',
      severity: isFatal ? 'blocked' : 'note',
      summary: `webhook ${webhook.name} cannot be reached: ${problem.summary}; ${isFatal ? `writes of ${rulesOf(webhook)} are refused` : 'it is skipped (failurePolicy Ignore)'}`,
      objects: [{ kind: 'Service', namespace, name }],
      unblockedBy: [
        ...problem.unblockedBy,
        'or set failurePolicy: Ignore, or a namespaceSelector that excludes its own namespace',
      ],
    },
  ];
}

function isToCome({ cause, since }: DiagnosisFinding): boolean {
  return cause === 'certificate-ends' && since === undefined;
}

function authorityFindingsOf(webhook: Webhook, nowMs: number): DiagnosisFinding[] {
  const isFatal = (webhook.failurePolicy ?? 'Fail') === 'Fail';
  return authorityFindings(
    {
      what: `webhook ${webhook.name}`,
      caBundle: webhook.clientConfig.caBundle,
      effect: isFatal ? `writes of ${rulesOf(webhook)} are refused` : 'it is skipped (failurePolicy Ignore)',
      isFatal,
    },
    nowMs,
  );
}

/** `pods, deployments`: what the rules match. */
function rulesOf({ rules }: Webhook): string {
  const resources = new Set((rules ?? []).flatMap(({ resources: matched }) => matched ?? []));
  return [...resources].join(', ') || 'what it matches';
}
