import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { StepExperiments } from '../steps/experiment-step.js';
import { POLICY_CONDITION, SERVICES_NOT_WATCHED, SERVICE_NOT_USABLE } from '../common/tell.js';
import { missingPods, type AtStep } from '../experiment/experiment.js';
import { sideServices, type SideServicePass, type SideServices } from './side-services.js';

/**
 * The pods and Services of experiments, as steps ask for them.
 * @param latest the ReplicaSet of the new version. @default it does not exist yet
 */
export function stepExperiments(
  pass: Omit<SideServicePass, 'outcome'>,
  latest: ReplicaSetDraft | undefined,
): StepExperiments {
  const { draft, experiments, repeatsTold } = pass;
  if (!experiments && repeatsTold) return toldExperiments(draft);
  const servicesOf = (at: AtStep): SideServices | undefined =>
    latest && sideServices(draft, latest, at, pass);
  return {
    hold: (experiment, step) => {
      // Its names are not known before its revision is.
      if (!latest) return experiments && experiment.hasServices ? {} : undefined;
      const services = servicesOf({ experiment, step });
      if (services?.kind === 'trouble') return { problem: services.problem };
      return services?.kind === 'unknown' ? {} : undefined;
    },
    missing: (experiment, step) => {
      const pods = missingPods(draft, latest, experiments, { experiment, step });
      const services = missingServices(servicesOf({ experiment, step }));
      return pods === undefined && services === undefined ? undefined : { pods, services };
    },
  };
}

/** The status says why an experiment waits: by its own words, and by the problem of its Services. */
function toldExperiments({ observed }: RolloutDraft): StepExperiments {
  const told = findCondition(observed.status?.conditions, POLICY_CONDITION);
  const reason = SERVICE_PROBLEMS.find((each) => each === told?.reason);
  const problem = reason && { reason, message: told?.message ?? '' };
  return { hold: () => problem && { problem }, missing: () => ({ isTold: true }) };
}

const SERVICE_PROBLEMS = [SERVICE_NOT_USABLE, SERVICES_NOT_WATCHED] as const;

function missingServices(services: SideServices | undefined): string | undefined {
  switch (services?.kind) {
    case 'trouble':
      return services.problem.message;
    case 'unknown':
      return 'not known yet';
    case 'known':
      return services.missing.length === 0 ? undefined : `not there yet: ${services.missing.join(', ')}`;
    case undefined:
      return undefined;
  }
}
