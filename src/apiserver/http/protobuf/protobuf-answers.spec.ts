import { describe, expect, it } from 'vitest';
import { createKindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { layoutOf } from './message-layouts.js';
import { ProtobufAnswers } from './protobuf-answers.js';

const schemas = createSchemaRegistry();
const answers = new ProtobufAnswers(createKindRegistry(), schemas);
const hex = (bytes: Buffer | undefined) => bytes?.toString('latin1');

/**
 * Fields that Kubernetes has added since the last program that describes its messages (1.34). They are not in answers in protobuf;
 * docs/API.md names them.
 */
const WITHOUT_NUMBER = [
  'core.v1.NodeStatus.declaredFeatures',
  'core.v1.PodCertificateProjection.userAnnotations',
  'core.v1.PodSpec.schedulingGroup',
  'core.v1.PodStatus.allocatedResources',
  'core.v1.PodStatus.nodeAllocatableResourceClaimStatuses',
  'core.v1.PodStatus.resources',
  'core.v1.ResourceHealth.message',
  'core.v1.VolumeMountStatus.volumeStatus',
  'resource.v1.Device.nodeAllocatableResourceMappings',
  'resource.v1.DeviceAttribute.bools',
  'resource.v1.DeviceAttribute.ints',
  'resource.v1.DeviceAttribute.strings',
  'resource.v1.DeviceAttribute.versions',
  'storage.v1.CSIDriverSpec.preventPodSchedulingIfMissing',
  'storage.v1.CSIDriverSpec.serviceAccountTokenInSecrets',
];

describe('answers in protobuf', () => {
  it('begin with four bytes and say what they are, as recorded', () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w1', namespace: 'wire' } };
    expect(hex(answers.encode(map))).toBe(
      'k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\x0c\n\n\n\x02w1\x1a\x04wire\x1a\x00"\x00',
    );
  });

  it('are as recorded for refusals', () => {
    const status = {
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'no' },
      ...{ reason: 'NotFound', details: { name: 'nope', kind: 'configmaps' }, code: 404 },
    };
    expect(hex(answers.encode(status))).toBe(
      'k8s\0\n\x0c\n\x02v1\x12\x06Status\x120\n\x00\x12\x07Failure\x1a\x02no"\x08NotFound*\x12\n\x04nope\x1a\nconfigmaps0\x94\x03\x1a\x00"\x00',
    );
  });

  it('have, for lists, their metadata before their items, which do not say what they are', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: { resourceVersion: '7' },
      items: [{ metadata: { name: 'a' } }],
    };
    const item = answers.item({ metadata: { name: 'a' } }, 'io.k8s.api.core.v1.ConfigMap');
    const head = { apiVersion: 'v1', kind: 'ConfigMapList' };
    expect(answers.encode(list)).toEqual(answers.list(head, { resourceVersion: '7' }, [item]));
    expect(hex(answers.encode(list))).toContain('\n\x03\x12\x017\x12\x05\n\x03\n\x01a');
  });

  it('are framed by their length in watches, with the whole object inside', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const frame = answers.event('ADDED', object)!;
    expect(frame.readUInt32BE()).toBe(frame.length - 4);
    expect(frame.subarray(4, 13).toString('latin1')).toBe('\n\x05ADDED\x12\x22');
    expect(frame.indexOf('k8s\0')).toBeGreaterThan(0);
  });

  it('have the metadata of every kind', () => {
    const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'a' } };
    expect(hex(answers.encode(partial))).toContain('PartialObjectMetadata\x12\x05\n\x03\n\x01a');
  });

  it('are there for no custom resource, and for nothing that has no message', () => {
    expect(answers.encode({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: {} })).toBeUndefined();
    expect(answers.encode({ kind: 'APIGroupList', apiVersion: 'v1', groups: [] })).toBeUndefined();
  });

  it('lack no field but those that are known', () => {
    const lacking = schemas.names.flatMap((name) => {
      const known = layoutOf(name) && new Set(propertiesOf(name));
      const fields = Object.keys(schemas.get(name)?.properties ?? {});
      const missing = known ? fields.filter((field) => !known.has(field)) : [];
      return missing
        .filter((field) => field !== 'apiVersion' && field !== 'kind')
        .map((field) => `${name.replace('io.k8s.api.', '')}.${field}`);
    });
    expect(lacking.sort()).toEqual(WITHOUT_NUMBER);
  });
});

function propertiesOf(name: string): string[] {
  return Object.values(layoutOf(name) ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : propertiesOf(entry[0]),
  );
}
