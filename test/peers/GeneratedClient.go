// Drives a client that openapi-generator made of the OpenAPI document: from a start to the download of a zip.
// It is compiled beside the generated package "parley/client"; what it prints is compared.
package main

import (
	"archive/zip"
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	parley "parley/client"
)

const patience = 2 * time.Minute

func must[T any](value T, answer *http.Response, err error) T {
	if err != nil {
		panic(fmt.Sprintf("%v: %v", answer, err))
	}
	return value
}

func until(what string, isThere func() bool) {
	for end := time.Now().Add(patience); !isThere(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			panic("it never came: " + what)
		}
	}
}

func main() {
	configuration := parley.NewConfiguration()
	configuration.Servers = parley.ServerConfigurations{{URL: os.Args[1]}}
	client := parley.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), parley.ContextAccessToken, os.Args[2])

	message := parley.NewInitialMessage()
	message.Content = []parley.TextBlock{*parley.NewTextBlock("text", "Write hello.txt")}
	request := parley.NewStartRequest()
	request.SetInitialMessage(*message)
	request.SetTags(map[string]string{"team": "blue"})
	task := must(client.ConversationsAPI.StartAppConversation(ctx).StartRequest(*request).Execute())
	until("READY", func() bool {
		task = must(client.ConversationsAPI.GetStartTasks(ctx).Ids([]string{task.Id}).Execute())[0]
		return task.Status == parley.STARTTASKSTATUS_READY
	})
	id := task.GetAppConversationId()
	var record *parley.Conversation
	until("FINISHED", func() bool {
		record = must(client.ConversationsAPI.GetAppConversations(ctx).Ids([]string{id}).Execute())[0]
		return record.GetExecutionStatus() == parley.CONVERSATIONEXECUTIONSTATUS_FINISHED
	})
	fmt.Println("sandbox", record.SandboxStatus, record.GetTags()["team"])

	page := must(client.EventsAPI.SearchEvents(ctx, id).SortOrder(parley.SEARCHEVENTSSORTORDER_TIMESTAMP).Execute())
	for _, event := range page.Items {
		if event.Kind == "ActionEvent" {
			fmt.Println("action", event.AdditionalProperties["tool_name"])
		}
	}
	file := must(client.ConversationsAPI.DownloadTrajectory(ctx, id).Execute())
	archive, err := zip.OpenReader(file.Name())
	if err != nil {
		panic(err)
	}
	fmt.Println("zip", archive.File[0].Name, len(archive.File) > len(page.Items)/2)

	sandboxes := must(client.SandboxesAPI.SearchSandboxes(ctx).Execute())
	fmt.Println("page", len(sandboxes.Items), sandboxes.Items[0].Status)
	_, refused, err := client.RunsAPI.GetRun(ctx, "none").Execute()
	fmt.Println("refused", refused.StatusCode, err != nil)
}
