import type { Decision } from '../../kit/index.js';
import type { NextStep } from './decide-content.js';
import type { DeletedContent } from './delete-content.js';

/** What a pass over a namespace's content came to, and what follows, for people. */
export function describeDecision(name: string, content: DeletedContent, next: NextStep): Decision {
  const { asked, deletionFailures, discoveryFailures, finalizers, objects, remaining } = content;
  return {
    branch: next.action,
    summary: summaryOf(name, content, next),
    changes: asked > 0 || next.action === 'finalize',
    inputs: {
      'rollkeeper.content.asked_to_go': asked,
      'rollkeeper.content.remaining': objects.length,
      'rollkeeper.content.remaining_types': [...remaining.keys()],
      'rollkeeper.content.finalizers': [...finalizers.keys()],
      'rollkeeper.content.failures': deletionFailures.length + discoveryFailures.length,
      ...(next.action === 'finalize' ? {} : { 'rollkeeper.recheck_ms': next.recheckMs }),
    },
  };
}

function summaryOf(name: string, { asked, objects }: DeletedContent, { action }: NextStep): string {
  const parts = [
    ...(asked > 0 ? [`asked ${asked} objects to go, ${objects.length} are left`] : []),
    ...(action === 'finalize' ? ['let it go, it is empty'] : []),
  ];
  return parts.length > 0 ? `namespace ${name}: ${parts.join('; ')}` : '';
}
