import type { Diagnosis } from './diagnosis.js';

/** From this many objects on, the registry is more likely at fault than each image. */
const SEVERAL = 3;

/**
 * Objects that wait for images of the same registry, as one problem each: where many do, it is the registry, its
 * credentials or its rate limit.
 */
export function groupByRegistry(problems: readonly Diagnosis[]): readonly Diagnosis[] {
  const byRegistry = Map.groupBy(
    problems.flatMap((problem) => {
      const finding = problem.waitsFor.find(({ cause }) => cause === 'image-pull');
      const registry = finding && registryIn(finding.summary);
      return registry === undefined ? [] : [{ registry, problem }];
    }),
    ({ registry }) => registry,
  );
  return [...byRegistry].flatMap(([registry, entries]): Diagnosis[] => {
    if (entries.length < SEVERAL) return [];
    const objects = entries.map(({ problem: { kind, name, namespace } }) => ({
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
    }));
    const summary = `images of ${registry} cannot be pulled for ${entries.length} objects`;
    const unblockedBy = [
      `check the registry ${registry}: does it answer, are its credentials (imagePullSecrets) valid, is its rate limit reached?`,
    ];
    return [
      {
        kind: 'Registry',
        name: registry,
        state: 'blocked',
        cause: 'image-pull',
        sentence: `Stuck: ${summary}.`,
        waitsFor: [{ cause: 'image-pull', severity: 'blocked', summary, objects, unblockedBy }],
        unblockedBy,
        notes: [],
      },
    ];
  });
}

/** The registry of the image that a message quotes; Docker's own where the reference names none. */
export function registryIn(message: string): string | undefined {
  const image = /image "([^"]+)"/.exec(message)?.[1];
  if (image === undefined) return undefined;
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : 'docker.io';
}
