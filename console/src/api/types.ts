// What the console reads, in the types of the SDK, which are written from the service's schemas. Most pages
// serve a client and an operator: what only the operator gets is optional here.

import type * as operator from '../../../sdk/src/internal/operator-types.ts'
import type * as client from '../../../sdk/src/wire/types.ts'

export type {
  AcceptedEvent,
  Account,
  AttemptedEvent,
  AuditChange,
  AuditHead,
  AuditItem,
  CellItem,
  ClientItem,
  ClientKey,
  ClientWithSecrets,
  ConsoleLink,
  CountedEndpoint,
  DocumentWithFile,
  EndpointHour,
  FollowingEndpoints,
  Job,
  JobDetail,
  NewClient,
  NewOperatorKey,
  OperatorKey,
  Role,
  SandboxReceiver,
  ServiceCertificate,
  Setting,
  SignatureInputs,
  Stats,
  StatsPeriod,
  TroubledEndpoint,
  VerifiedAudit,
  WrittenPayment,
} from '../../../sdk/src/internal/operator-types.ts'
export type {
  CheckReport,
  CursorPage,
  DeliveryAttempt,
  Diagnosis,
  EndpointHealth,
  EndpointKind,
  EventKind,
  ExplanationPart,
  Notice,
  Notices,
  OwnStats,
  Page,
  PaymentEvent,
  PaymentItem,
  PaymentState,
  Problem,
  PublicCertificate,
  SentRequest,
  Series,
  Statement,
  StatementHour,
  TestResult,
  Webhook,
} from '../../../sdk/src/wire/types.ts'

/** What both get, and what only the operator gets as optional members. */
type EitherSees<OfClient, OfOperator extends OfClient> = OfClient &
  Partial<Omit<OfOperator, keyof OfClient>>

export type Delivery = EitherSees<client.Delivery, operator.OperatorDelivery>
export type DeliveryDetail = EitherSees<client.DeliveryDetail, operator.OperatorDeliveryDetail>
export type SearchHit = Omit<operator.OperatorSearchHit, 'clientId' | 'clientName'> &
  Partial<Pick<operator.OperatorSearchHit, 'clientId' | 'clientName'>>
export type Payment = EitherSees<client.Payment, operator.OperatorPayment>
/** A client's own: its path says its kind, and it has its health only when it is read alone. */
export type Endpoint = EitherSees<
  client.Endpoint & { kind: client.EndpointKind },
  operator.OperatorEndpointDetail
>

/** While a client or an operator is signed in. */
export type Session = operator.Session & { kind: 'operator' | 'client' }
