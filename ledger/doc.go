// Package ledger keeps every call to a model, append-only: what was asked, of which model, and what
// came back. Asking again for a call that is there costs nothing, so a study resumes by running
// again and extends by running with more.
//
//	l, err := ledger.Open("runs/mine/ledger.db")
//	ask := l.Through(engine)         // an llm.Engine that remembers
//	results := ask.Do(ctx, requests) // in the order of requests
//
// A call is identified by its [Key], a hash of the declared identity: the model's [llm.Identity],
// the [llm.Request] and a generation number. A reply is durable before anyone is told of it. Errors
// are recorded as attempts and never answer a later call.
//
// The store behind a ledger is SQLite in one file ([Open]) or memory ([InMemory]). Package
// ledger/ledgertest has the conformance suite that every [Store] passes.
//
// # What is kept in clear
//
// Prompts, answers and replies are compressed, not encrypted. A ledger is as confidential as the
// questions that were asked.
package ledger
