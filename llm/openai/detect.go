package openai

import (
	"context"
	"strings"

	"github.com/credence-lab/credence/llm/internal/wire"
)

// Detect finds out which dialect the server at c.URL speaks, from the routes that only one kind has and from
// what its list of models says of itself. It is Plain where nothing tells.
func Detect(ctx context.Context, c Config) (Dialect, error) {
	client, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return detect(ctx, client)
}

func detect(ctx context.Context, c *client) (Dialect, error) {
	if host := c.Host(); host == "api.openai.com" || strings.HasSuffix(host, ".openai.com") {
		return OpenAI, nil
	}
	var seen struct {
		ModelID  string         `json:"model_id"`
		Version  string         `json:"version"`
		Model    string         `json:"model_path"`
		Defaults map[string]any `json:"default_generation_settings"`
	}
	for _, probe := range []struct {
		path    string
		speaks  func() bool
		dialect Dialect
	}{
		{"/props", func() bool { return seen.Defaults != nil }, LlamaServer},
		{"/api/version", func() bool { return seen.Version != "" }, Ollama},
		{"/get_model_info", func() bool { return seen.Model != "" }, SGLang},
		{"/model_info", func() bool { return seen.Model != "" }, SGLang},
		{"/info", func() bool { return seen.ModelID != "" }, TGI},
		{"/version", func() bool { return seen.Version != "" }, VLLM},
	} {
		err := c.Get(ctx, probe.path, wire.Into(&seen))
		switch failed, ok := wire.AsError(err); {
		case err == nil && probe.speaks():
			return probe.dialect, nil
		case err == nil || ok && (failed.Kind == Refused || failed.Kind == Malformed):
		default:
			return "", err
		}
	}
	list, err := models(ctx, c)
	if err != nil {
		return "", err
	}
	for _, m := range list {
		switch m.OwnedBy {
		case "vllm":
			return VLLM, nil
		case "sglang":
			return SGLangOpenAI, nil
		}
	}
	return Plain, nil
}
