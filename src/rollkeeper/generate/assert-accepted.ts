import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/** @throws InvalidOptionError with the API server's words, if it would refuse one of the definitions */
export async function assertAccepted(definitions: readonly object[]): Promise<void> {
  const { definitionProblems } = await import('@rollkeeper/apiserver/definition-problems');
  const problems = definitions.flatMap((definition) => {
    const { metadata } = definition as { metadata: { name: string } };
    return definitionProblems(definition).map((problem) => `${metadata.name}: ${problem}`);
  });
  if (problems.length > 0)
    throw new InvalidOptionError('module', `the API server would refuse ${problems.join('; ')}`);
}
