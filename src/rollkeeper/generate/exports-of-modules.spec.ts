import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InjectLister, Reconciles } from '../../nest/index.js';
import type { Lister, Reconciler } from '../../runtime/index.js';
import {
  ConfigMap,
  Deployment,
  Pod,
  Secret,
  defineController,
  defineCustomKind,
} from '../../runtime/index.js';
import { defineWebhook, spoke } from '../../webhooks/index.js';
import { convertedIn, definitionsIn, rightsIn } from './exports-of-modules.js';
import { rolesOf } from './roles.js';

const website = (version: string) =>
  defineCustomKind({ group: 'example.com', version, kind: 'Website', spec: z.object({}) });

describe('the definitions in modules', () => {
  const modules = [{ V1beta1: website('v1beta1') }, { kinds: [website('v1'), website('v1alpha1')] }];
  const storedOf = (storage?: ReadonlyMap<string, string>) =>
    definitionsIn(modules, storage).flatMap((definition) =>
      (definition.spec.versions as { name: string; storage: boolean }[]).map(({ name, storage: isStored }) =>
        isStored ? `${name} stored` : name,
      ),
    );

  it('are one for each kind, with all versions, the newest of which is stored', () => {
    expect(storedOf()).toEqual(['v1 stored', 'v1beta1', 'v1alpha1']);
    expect(storedOf(new Map([['Website.example.com', 'v1beta1']]))).toEqual([
      'v1beta1 stored',
      'v1',
      'v1alpha1',
    ]);
  });

  it('are missed with a clear word', () => {
    expect(() => definitionsIn([{}])).toThrow('module: exports no kind');
    expect(() => storedOf(new Map([['Other.example.com', 'v1']]))).toThrow('storage: there is no kind');
    expect(() => storedOf(new Map([['Website.example.com', 'v3']]))).toThrow('has no version v3');
    expect(() => rightsIn([{ Website: website('v1') }])).toThrow('module: exports no controller');
  });
});

describe('roles', () => {
  const controller = defineController(
    {
      ...{ name: 'sites', for: Deployment },
      writes: [
        { kind: Deployment, verbs: ['patch'], subresources: ['status', 'finalizers'] },
        { kind: Pod, verbs: [], subresources: ['eviction'] },
      ],
    },
    ({ clock }) => ({ reads: [ConfigMap], owns: [Pod], reconcile: async () => void clock.now() }),
  );
  const rules = rightsIn([{ controller }]);

  it('hold what the controllers watch and write, and no more', () => {
    const [, role] = rolesOf(rules, { name: 'sites', namespace: 'ops', namespaces: [], hasLease: true });
    expect(role).toMatchObject({
      kind: 'ClusterRole',
      rules: [
        { apiGroups: [''], resources: ['configmaps', 'pods'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
        { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'patch', 'watch'] },
        {
          apiGroups: ['apps'],
          resources: ['deployments/finalizers', 'deployments/status'],
          verbs: ['patch', 'update'],
        },
      ],
    });
  });

  it('hold what a class of Nest declares, and the caches that it injects', () => {
    @Reconciles(Deployment, { owns: [Pod], writes: [{ kind: Pod, verbs: ['create'] }] })
    class Sites implements Reconciler<Deployment> {
      constructor(@InjectLister(Secret) readonly secrets: Lister<Secret>) {}
      async reconcile(): Promise<void> {}
    }
    const rules = rightsIn([{ Sites }]).map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`);
    expect(rules).toEqual([
      'deployments: get,list,watch',
      'pods: get,list,watch',
      'secrets: get,list,watch',
      'pods: create',
      'events: create,patch',
    ]);
  });

  it('hold what webhooks need, where the operator has some', () => {
    const options = { name: 'sites', namespace: 'ops', namespaces: [], hasLease: true };
    const old = spoke(website('v1beta1'), { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) });
    const converted = convertedIn([
      { plain: defineWebhook(Pod, { validate: () => 'no' }), nothing: undefined },
      {
        sites: defineWebhook(website('v1'), { convert: [old] }),
      },
    ]);
    expect(converted).toEqual(['websites.example.com']);
    const rolesWith = (webhooks: 'apply' | 'patch') =>
      rolesOf(rules, { ...options, webhooks, converted }).flatMap((object) => {
        const {
          kind,
          metadata,
          rules: granted,
        } = object as {
          kind: string;
          metadata: { name: string };
          rules?: { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
        };
        if (metadata.name !== 'sites-webhooks' || !granted) return [];
        return granted.map(({ resourceNames = [], resources, verbs }) =>
          [kind, resources.at(-1), ...resourceNames, verbs.join()].join(' '),
        );
      });
    expect(rolesWith('apply')).toEqual([
      'Role secrets create',
      'Role secrets sites-webhooks get,update',
      'ClusterRole validatingwebhookconfigurations create',
      'ClusterRole validatingwebhookconfigurations sites get,patch,delete',
      'ClusterRole customresourcedefinitions websites.example.com get,patch',
    ]);
    expect(rolesWith('patch')).toContain('ClusterRole validatingwebhookconfigurations sites get,update');
    expect(rolesOf(rules, options)).toHaveLength(5);
  });

  it('are in each namespace where the operator works in some alone', () => {
    const options = { name: 'sites', namespace: 'ops', namespaces: ['a', 'b'], hasLease: false };
    const names = rolesOf(rules, options).map((object) => {
      const { kind, metadata } = object as { kind: string; metadata: { name: string; namespace?: string } };
      return `${kind} ${metadata.namespace}/${metadata.name}`;
    });
    expect(names).toEqual([
      'ServiceAccount ops/sites',
      'Role a/sites',
      'RoleBinding a/sites',
      'Role b/sites',
      'RoleBinding b/sites',
      'Role ops/sites-leader',
      'RoleBinding ops/sites-leader',
    ]);
    expect(JSON.stringify(rolesOf(rules, options))).not.toContain('leases');
  });

  it('let replicas on Redis see of which cluster they are, by a ClusterRole', () => {
    const options = { name: 'sites', namespace: 'ops', namespaces: ['a'], hasLease: false, onRedis: true };
    expect(rolesOf(rules, options)).toContainEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'sites-redis' },
      rules: [{ apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] }],
    });
    expect(JSON.stringify(rolesOf(rules, { ...options, onRedis: false }))).not.toContain('kube-system');
  });
});
