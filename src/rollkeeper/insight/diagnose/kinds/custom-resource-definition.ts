import { counted } from '@rollkeeper/machinery/text';
import { CustomResourceDefinition } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { authorityFindings } from '../authority-findings.js';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { SERVER_NEEDS, serverProblem } from '../server-problem.js';
import type { Snapshot } from '../snapshot.js';

type Definition = DeepReadonly<CustomResourceDefinition>;

/** CustomResourceDefinitions: names that are taken, and conversions that cannot be reached, so that objects cannot be read. */
export const definitionDiagnosis: KindDiagnosis<CustomResourceDefinition> = {
  type: CustomResourceDefinition,
  aliases: ['crd'],
  needs: () => SERVER_NEEDS,
  judge(definition, snapshot, nowMs): Verdict {
    const { kind } = definition.spec.names;
    const served = definition.spec.versions.filter((version) => version.served);
    const good = {
      state: 'healthy',
      sentence: `${kind} is served in ${counted(served.length, 'version')}`,
    } as const;
    const deletion = deletionFindings(definition, 'its objects');
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    return {
      good,
      findings: [...nameFindings(definition), ...conversionFindings(definition, snapshot, nowMs)],
    };
  },
};

function nameFindings({ status }: Definition): DiagnosisFinding[] {
  const refused = status?.conditions?.find(
    ({ status: value, type }) => type === 'NamesAccepted' && value === 'False',
  );
  if (!refused) return [];
  const { lastTransitionTime, message = '', reason = 'NamesAccepted' } = refused;
  return [
    {
      cause: 'definition-names',
      severity: 'blocked',
      summary: `its names are not accepted, so its objects are not served: ${message === '' ? reason : message}`,
      ...(lastTransitionTime !== undefined && { since: lastTransitionTime }),
      unblockedBy: ['give it other names, or delete the definition that has them'],
    },
  ];
}

function conversionFindings(definition: Definition, snapshot: Snapshot, nowMs: number): DiagnosisFinding[] {
  const { conversion, names } = definition.spec;
  const clientConfig = conversion?.strategy === 'Webhook' ? conversion.webhook?.clientConfig : undefined;
  if (!clientConfig) return [];
  const isFatal = isConverted(definition);
  const effect = isFatal
    ? `${names.plural} of a version other than the stored one can be neither read nor written`
    : 'nothing is converted yet, because there is one version';
  const problem = clientConfig.service && serverProblem(snapshot, clientConfig.service);
  const { name = '', namespace = '' } = clientConfig.service ?? {};
  return [
    ...(problem
      ? [
          {
            cause: 'conversion-unreachable',
            severity: isFatal ? 'blocked' : 'note',
            summary: `its conversion cannot be reached: ${problem.summary}; ${effect}`,
            objects: [{ kind: 'Service', namespace, name }],
            unblockedBy: [...problem.unblockedBy],
          } as const,
        ]
      : []),
    ...authorityFindings({ what: 'its conversion', caBundle: clientConfig.caBundle, effect, isFatal }, nowMs),
  ];
}

/** Whether there are objects or clients of several versions. */
function isConverted({ spec, status }: Definition): boolean {
  const versions = new Set([
    ...spec.versions.filter(({ served }) => served).map(({ name }) => name),
    ...(status?.storedVersions ?? []),
  ]);
  return versions.size > 1;
}
