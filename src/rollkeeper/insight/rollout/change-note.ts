import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import type { Trigger } from '@rollkeeper/controllers/deployment';
import {
  CHANGE_CAUSE,
  completed,
  isCustomDeployment,
  customTemplateHash,
  podTemplateHash,
  withNotedChange,
} from '@rollkeeper/controllers/deployment';

/** The note of a person on a change. */
export interface ChangeNote {
  /** @default nothing is said */
  readonly reason?: string;
  /** @default the user that the API names */
  readonly by?: string;
}

/** Leaves word on the Deployment, for the history of the revision that its new template leads to. Changes `wanted`. */
export function noteChange(wanted: Deployment, trigger: Trigger, { by, reason }: ChangeNote): void {
  if (reason === undefined && by === undefined) return;
  const hashOf = isCustomDeployment(wanted) ? customTemplateHash : podTemplateHash;
  const template = hashOf(completed(wanted).spec.template);
  const said = reason === undefined ? {} : { why: reason };
  const annotations = withNotedChange(wanted.metadata.annotations ?? {}, {
    ...{ template, trigger, ...said },
    ...(by !== undefined && { by }),
  });
  wanted.metadata.annotations =
    reason === undefined ? annotations : { ...annotations, [CHANGE_CAUSE]: reason };
}
