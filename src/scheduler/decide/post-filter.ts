import type { RandomSource } from '@rollkeeper/machinery/clock';
import type { PodInfo } from '../framework/node-info.js';
import type { PostFilterContext, PostFilterResult } from '../framework/plugin.js';
import type { Status } from '../framework/status.js';
import type { Attempt } from './attempt.js';

interface PostFiltered {
  /** Empty where a plug-in found a way. */
  readonly message: string;
  readonly nomination?: PostFilterResult['nomination'];
  readonly victims: readonly PodInfo[];
  readonly deallocate?: PostFilterResult['deallocate'];
}

interface PostFilterParts {
  readonly refusals: ReadonlyMap<string, Status>;
  readonly preFilterRefusal?: Status | undefined;
  readonly random: RandomSource;
}

/** Asks plug-ins what can be done, until one finds a way or ends it. */
export function postFilter(attempt: Attempt, parts: PostFilterParts): PostFiltered {
  const context: PostFilterContext = {
    ...attempt.context,
    ...parts,
    trial: (node) => attempt.trial(node),
  };
  const reasons: string[] = [];
  let nomination: PostFilterResult['nomination'];
  let deallocate: PostFilterResult['deallocate'];
  for (const plugin of attempt.profile.postFilter) {
    attempt.asking = plugin.name;
    const result = plugin.postFilter?.(context, attempt.stateOf(plugin)) ?? {};
    const { status } = result;
    deallocate = result.deallocate ?? deallocate;
    if (!status || status.code === 'Success')
      return { message: '', nomination: result.nomination, victims: result.victims ?? [], deallocate };
    if (status.code !== 'Unschedulable')
      return { message: status.reasons.join(', '), nomination: result.nomination, victims: [], deallocate };
    nomination = result.nomination ?? nomination;
    reasons.push(...status.reasons);
  }
  return { message: reasons.join(', '), nomination, victims: [], deallocate };
}
