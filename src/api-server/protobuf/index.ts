export { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from './decode-protobuf.js';
