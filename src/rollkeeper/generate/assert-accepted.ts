import { InvalidOptionError } from '@rollkeeper/machinery/errors';

interface Named {
  readonly metadata: { readonly name: string };
}

/** @throws InvalidOptionError with the API server's words, if it would refuse one of the definitions */
export async function assertAccepted(definitions: readonly Named[]): Promise<void> {
  const { definitionProblems } = await import('@rollkeeper/apiserver/definition-problems');
  const problems = definitions.flatMap((definition) => {
    const { metadata } = definition;
    return definitionProblems(definition).map((problem) => `${metadata.name}: ${problem}`);
  });
  if (problems.length > 0)
    throw new InvalidOptionError('module', `the API server would refuse ${problems.join('; ')}`);
}
