import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** The part of opentelemetry-proto's `trace/v1` that an exporter sends. */
const PROTO = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
  ArrayValue array_value = 5; bytes bytes_value = 7; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Scope { string name = 1; string version = 2; }
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated KeyValue attributes = 4; }
message Status { string message = 2; int32 code = 3; }
message Span { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  repeated Event events = 11; repeated Link links = 13; Status status = 15; fixed32 flags = 16; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
`;
const REQUEST = protobuf.parse(PROTO).root.lookupType('ExportTraceServiceRequest');

type Value = string | number | boolean | Value[];

interface WireValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: number;
  doubleValue?: number;
  arrayValue?: { values?: WireValue[] };
}
interface WireAttribute {
  key: string;
  value?: WireValue;
}
interface WireSpan {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId?: Uint8Array;
  name: string;
  startTimeUnixNano: number;
  endTimeUnixNano: number;
  attributes?: WireAttribute[];
  events?: { name: string; attributes?: WireAttribute[] }[];
  links?: { traceId: Uint8Array; spanId: Uint8Array }[];
  status?: { code?: number };
}

export interface ReceivedEvent {
  readonly name: string;
  readonly attributes: Readonly<Record<string, Value | undefined>>;
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly service: string;
  readonly instance: string;
  readonly attributes: Readonly<Record<string, Value | undefined>>;
  readonly events: readonly ReceivedEvent[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly durationMs: number;
  readonly failed: boolean;
}

/** An OTLP collector: takes what the protocol allows, refuses the rest and remembers the refusal. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly problems: string[] = [];

  private readonly undecoded: Buffer[] = [];

  private constructor(
    private readonly server: Server,
    private readonly decodesLater: boolean,
  ) {}

  /** @param options.decodesLater not before {@link decodeAll}: for measurements, which it would take part in otherwise */
  static async start(options: { decodesLater?: boolean } = {}): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server, options.decodesLater ?? false);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void receiver.receive(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  decodeAll(): void {
    for (const body of this.undecoded.splice(0)) this.spans.push(...decode(body));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const { 'content-encoding': encoding, 'content-type': type } = request.headers;
      if (request.method !== 'POST' || request.url !== '/v1/traces')
        throw new Error(`${request.method} ${request.url}`);
      if (type !== 'application/x-protobuf') throw new Error(`content type ${type}`);
      this.undecoded.push(encoding === 'gzip' ? gunzipSync(body) : body);
      if (!this.decodesLater) this.decodeAll();
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    } catch (error) {
      this.problems.push(String(error));
      response.writeHead(400).end();
    }
  }
}

function decode(body: Buffer): ReceivedSpan[] {
  const { resourceSpans = [] } = REQUEST.toObject(REQUEST.decode(body), { longs: Number }) as {
    resourceSpans?: {
      resource?: { attributes?: WireAttribute[] };
      scopeSpans?: { spans?: WireSpan[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const of = attributesOf(resource?.attributes);
    const origin = { service: String(of['service.name']), instance: String(of['service.instance.id']) };
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => ({ ...spanOf(span), ...origin })));
  });
}

function spanOf(span: WireSpan): Omit<ReceivedSpan, 'service' | 'instance'> {
  const durationMs = (span.endTimeUnixNano - span.startTimeUnixNano) / 1e6;
  if (durationMs < -0.001 || span.name === '') throw new Error(`span ${span.name} takes ${durationMs} ms`);
  return {
    traceId: hex(span.traceId, 16),
    spanId: hex(span.spanId, 8),
    parentSpanId: span.parentSpanId?.length ? hex(span.parentSpanId, 8) : '',
    name: span.name,
    attributes: attributesOf(span.attributes),
    events: (span.events ?? []).map(({ attributes, name }) => ({
      name,
      attributes: attributesOf(attributes),
    })),
    links: (span.links ?? []).map(({ spanId, traceId }) => ({
      traceId: hex(traceId, 16),
      spanId: hex(spanId, 8),
    })),
    durationMs,
    failed: span.status?.code === 2,
  };
}

function hex(id: Uint8Array, bytes: number): string {
  const text = Buffer.from(id).toString('hex');
  if (id.length !== bytes || /^0*$/.test(text)) throw new Error(`"${text}" is no id of ${bytes} bytes`);
  return text;
}

function attributesOf(attributes: WireAttribute[] = []): Record<string, Value | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: WireValue | undefined): Value | undefined {
  if (value?.arrayValue) return (value.arrayValue.values ?? []).map((each) => valueOf(each) ?? '');
  return value?.stringValue ?? value?.boolValue ?? value?.intValue ?? value?.doubleValue;
}
