export { OpenApiDocuments } from './openapi-documents.js';
