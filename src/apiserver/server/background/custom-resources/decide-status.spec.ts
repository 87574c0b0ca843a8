import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../kinds/index.js';
import { decideDefinitionStatus, isEstablished } from './decide-status.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const LATER = NOW + 60_000;

function aDefinition(status?: Definition['status']): Definition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'ThingList',
        shortNames: ['th'],
      },
      versions: [],
    },
    ...(status && { status }),
  } as unknown as Definition;
}

function summary(status: Definition['status']): Record<string, string> {
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: state, reason }) => [type, `${state} ${reason}`]),
  );
}

describe('the status of a definition', () => {
  it('has its names accepted and is established when nobody else has them', () => {
    const status = decideDefinitionStatus(aDefinition(), [], NOW);
    expect(summary(status)).toEqual({
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    });
    expect(status?.acceptedNames).toEqual(aDefinition().spec?.names);
  });

  it.each([
    [undefined, 'False MissingAnnotation'],
    ['nonsense', 'False InvalidAnnotation'],
    ['unapproved, try it', 'False UnapprovedAnnotation'],
    ['https://example.com/1', 'True ApprovedAnnotation'],
  ])('says in a group of Kubernetes whether it is approved: %s', (approved, expected) => {
    const definition = aDefinition();
    definition.spec.group = 'things.k8s.io';
    if (approved !== undefined) definition.metadata.annotations = { 'api-approved.kubernetes.io': approved };
    const [first, ...others] = decideDefinitionStatus(definition, [], NOW)?.conditions ?? [];
    expect([first?.type, `${first?.status} ${first?.reason}`, others.length]).toEqual([
      'KubernetesAPIApprovalPolicyConformant',
      expected,
      2,
    ]);
  });

  it('is decided once', () => {
    const status = decideDefinitionStatus(aDefinition(), [], NOW);
    expect(decideDefinitionStatus(aDefinition(status), [], LATER)).toBeUndefined();
  });

  it.each([
    ['plural', { plural: 'things' }, 'PluralConflict'],
    ['singular', { plural: 'others', singular: 'thing' }, 'SingularConflict'],
    ['short name', { shortNames: ['th'] }, 'ShortNamesConflict'],
    ['kind', { kind: 'Thing' }, 'KindConflict'],
    ['list kind', { listKind: 'ThingList' }, 'ListKindConflict'],
  ])('is not established while another one has its %s', (_name, taken, reason) => {
    const status = decideDefinitionStatus(aDefinition(), [taken], NOW);
    expect(summary(status)).toEqual({ NamesAccepted: `False ${reason}`, Established: 'False NotAccepted' });
  });

  it('says why nothing is served in a group of built-in kinds, though an older release served it', () => {
    const served = decideDefinitionStatus(aDefinition(), [], NOW);
    const definition = aDefinition(served);
    definition.metadata.name = 'things.networking.k8s.io';
    definition.spec.group = 'networking.k8s.io';
    const status = decideDefinitionStatus(definition, [], LATER);
    expect(summary(status)).toEqual({
      KubernetesAPIApprovalPolicyConformant: 'False MissingAnnotation',
      NamesAccepted: 'False Reserved',
      Established: 'False NotAccepted',
    });
    expect(status?.conditions?.[1]?.message).toBe(
      'the group "networking.k8s.io" is served by the API server itself, and no definition adds to it',
    );
    expect(status?.acceptedNames).toEqual({ plural: '', kind: '' });
  });

  it('stays established when a new name of it is taken, and keeps the time of that', () => {
    const status = decideDefinitionStatus(aDefinition(), [], NOW);
    const changed = aDefinition(status);
    const decided = decideDefinitionStatus(changed, [{ shortNames: ['th'] }], LATER);
    expect(summary(decided)).toEqual({
      NamesAccepted: 'False ShortNamesConflict',
      Established: 'True InitialNamesAccepted',
    });
    const [names, established] = decided?.conditions ?? [];
    expect(names?.lastTransitionTime).toBe('2026-01-01T00:01:00Z');
    expect(established?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    expect(isEstablished({ ...changed, status: decided })).toBe(true);
  });
});
