import { ROLLBACK_REVISION_NOT_FOUND } from '@rollkeeper/controllers/deployment';
import type { ExplainInput } from './explain-input.js';
import type { Finding } from './explanation.js';
import type { RolloutFacts } from './rollout-facts.js';

/** The API's limit for names of ReplicaSets, as DNS subdomains. Characters. */
const LONGEST_NAME = 253;

/** The findings about the next sync, and the errors that it will meet. */
export function nextSyncFindings(input: ExplainInput, facts: RolloutFacts): Finding[] {
  const tooLong = nameFinding(input, facts);
  if (tooLong) return [tooLong];
  return [...rollbackFinding(facts), ...writesFinding(facts), ...collisionFinding(input, facts)];
}

function nameFinding({ deployment }: ExplainInput, { nextCreation }: RolloutFacts): Finding | undefined {
  const excess = (nextCreation?.length ?? 0) - LONGEST_NAME;
  if (excess <= 0) return undefined;
  const { length } = deployment.metadata.name;
  return {
    cause: 'name-too-long',
    severity: 'blocked',
    summary: `its name of ${length} characters leaves no room for the hash in a ReplicaSet's name: names have at most ${LONGEST_NAME}`,
    unblockedBy: [`recreate it with a name that is ${excess} characters shorter: names are immutable`],
  };
}

/** A rollback request that has no target, which the next sync will drop. */
function rollbackFinding({ notes }: RolloutFacts): Finding[] {
  const note = notes.find(({ reason }) => reason === ROLLBACK_REVISION_NOT_FOUND);
  if (!note) return [];
  return [
    {
      cause: 'rollback-revision-not-found',
      severity: 'waits',
      summary: `a rollback to a revision that is not kept was requested (${note.message})`,
      unblockedBy: [
        'the next sync, which drops the request',
        'kubectl rollout history shows the revisions that are kept (revisionHistoryLimit)',
      ],
    },
  ];
}

function writesFinding({ nextWrites }: RolloutFacts): Finding[] {
  if (nextWrites.length === 0) return [];
  const summary = `the next sync will ${nextWrites.join(', ')}`;
  return [{ cause: 'next-sync', severity: 'waits', summary, unblockedBy: ['the next sync'] }];
}

function collisionFinding({ deployment }: ExplainInput, { nextCreation }: RolloutFacts): Finding[] {
  const { collisionCount = 0 } = deployment.status ?? {};
  if (collisionCount === 0 || nextCreation === undefined) return [];
  return [
    {
      cause: 'hash-collision',
      severity: 'note',
      summary: `names for its ReplicaSets were taken by other objects, ${collisionCount} times so far; the next name is ${nextCreation}`,
      unblockedBy: ['the next sync, which tries that name'],
    },
  ];
}
