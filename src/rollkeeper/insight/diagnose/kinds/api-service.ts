import { APIService } from '@rollkeeper/runtime';
import type { Verdict } from '../diagnosis.js';
import { authorityFindings } from '../authority-findings.js';
import { deletionFindings } from '../findings.js';
import type { ServerRef } from '../server-problem.js';
import { SERVER_NEEDS, serverProblem } from '../server-problem.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

/** APIServices: groups that another server answers for, and that do not answer. */
export const apiServiceDiagnosis: KindDiagnosis<APIService> = {
  type: APIService,
  aliases: [],
  needs: () => SERVER_NEEDS,
  judge(object, snapshot, nowMs): Verdict {
    const { service } = object.spec ?? {};
    const good = {
      state: 'healthy',
      sentence: service
        ? `served by Service ${service.namespace}/${service.name}`
        : 'served by the API server itself',
    } as const;
    const deletion = deletionFindings(object);
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    const condition = object.status?.conditions?.find(({ type }) => type === 'Available');
    if (condition === undefined || condition.status === 'True') {
      const name = `APIService ${object.metadata.name}`;
      const { caBundle } = object.spec ?? {};
      const trusted = { what: name, caBundle, effect: 'its group does not answer', isFatal: true };
      return { findings: authorityFindings(trusted, nowMs), good, bad: 'degraded' };
    }
    const { lastTransitionTime, message = '', reason = '' } = condition;
    return {
      good,
      findings: [
        {
          cause: 'api-group-unavailable',
          severity: 'blocked',
          summary: `its group does not answer: ${reason}${message === '' ? '' : ` (${message})`}; namespaces cannot be deleted, and clients of the group fail`,
          ...(lastTransitionTime !== undefined && { since: lastTransitionTime }),
          ...(service && {
            objects: [
              { kind: 'Service', namespace: service.namespace ?? 'default', name: service.name ?? '' },
            ],
          }),
          unblockedBy: [
            ...(service ? remediesOf(snapshot, service) : ['repair the server of that group']),
            `or, if it does not recover, kubectl delete apiservice ${object.metadata.name}`,
          ],
        },
      ],
    };
  },
};

/** If the server has ready endpoints, its answers or its certificate are at fault. */
function remediesOf(snapshot: Snapshot, service: ServerRef): readonly string[] {
  const key = `${service.namespace ?? ''}/${service.name ?? ''}`;
  return (
    serverProblem(snapshot, service)?.unblockedBy ?? [
      `repair the server behind Service ${key}, its port or its certificate: see its log, and rollkeeper explain service ${key}`,
    ]
  );
}
